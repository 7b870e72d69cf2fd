/** A chain may be forged so that every hash fits: the page and this browser's memory still reveal it. */
import { assert } from "@effect/vitest"
import { isAccessible, picture } from "../lab/browser/Browser.ts"
import { check, ended, forge, said, serve, stones } from "../lab/browser/ChainPage.ts"
import { guide } from "../lab/browser/Guide.ts"
import { forbidStorage } from "../lab/browser/GuidePage.ts"

guide("a forged chain", (it) => {
  it("with consistent hashes turns the page red, which names the difference", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const [first] = honest
    const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "a".repeat(64) } : {}))
    const { page, url } = await visit("/v2/witness", { bypassCSP: true })
    await serve(page, forged)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗\s*The chain differs from this page\./u)
    assert.strictEqual(await said(page).locator('a[href="/verify#payments"]').count(), 1)
    const stone = page.locator('[data-link="1"]')
    assert.strictEqual(await stone.locator("[data-verdict]").innerText(), "✗ differs")
    assert.match((await stone.getAttribute("class")) ?? "", /link--broken/u)
    assert.notStrictEqual(
      await stone.locator(".pebble__edge").evaluate((edge) => getComputedStyle(edge).stroke),
      "rgb(59, 43, 32)",
    )
    const report = page.locator(".checks__item").first()
    const words = (await report.innerText()).replace(/\s+/gu, " ")
    assert.match(words, /Stone 1 differs: commitment, chain hash/u)
    assert.include(words, first?.commitment ?? "none")
    assert.include(words, "a".repeat(64))
    assert.isAbove(await report.locator("mark").count(), 0)
    assert.strictEqual(await page.locator("[data-verify-status] .verdict--holds").count(), 0)
    await isAccessible(page, "a forged chain")
    await picture(page, "guide-forged")

    await page.goto(`${url}/witness/${first?.id}`)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗/u)
    assert.notInclude(await said(page).innerText(), "Stone 1 holds.")
    assert.match((await page.locator('[data-part="commitment"]').getAttribute("class")) ?? "", /differs/u)
    assert.strictEqual(await page.locator("figure [data-verdict]").innerText(), "✗ differs")
    assert.notMatch((await page.locator('[data-part="transaction"]').getAttribute("class")) ?? "", /differs/u)
    await isAccessible(page, "a forged stone")
    await picture(page, "guide-forged-stone")
    await page.setViewportSize({ width: 360, height: 800 })
    await page.emulateMedia({ colorScheme: "dark" })
    await isAccessible(page, "a forged stone on a phone by night")
    assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0)
    await picture(page, "guide-forged-stone-dark-360")
  })

  it("that answers with another stone than requested does not verify this one", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const { page } = await visit(`/witness/${honest[1]?.id}`)
    await page.route("**/api/witness/chain?*", async (route) => {
      const response = await route.fetch({ url: route.request().url().replace("from=2", "from=3") })
      await route.fulfill({ response })
    })
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗/u)
  })

  it("that the page agrees with differs from this browser's memory, and the page says so", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "c".repeat(64) } : {}))
    const { page } = await visit("/v2/witness")
    await check(page)
    await said(page).getByText("links hold.").waitFor()
    await serve(page, forged)
    // The page is rewritten too: nothing on it contradicts the chain.
    await page.route("**/v2/witness", async (route) => {
      const response = await route.fetch()
      let body = await response.text()
      for (const [index, entry] of honest.entries()) {
        const other = forged[index]
        if (other === undefined) continue
        body = body.replaceAll(entry.chainHash, other.chainHash).replaceAll(entry.commitment, other.commitment)
      }
      await route.fulfill({ response, body })
    })
    await page.reload()
    await ended(page)
    assert.match(
      await said(page).innerText(),
      /^✗\s*History differs from what this browser saw on \d+ \w+ \d{4}, \d\d:\d\d UTC\.\s+This page and the chain agree with each other, and not with what this browser saw\./u,
    )
    assert.strictEqual(await page.locator('[data-link="1"] [data-verdict]').innerText(), "✗ differs")
    // A visitor who knows the reason may start again.
    await page.getByRole("button", { name: "Forget what this browser saw" }).click()
    await said(page).getByText("links hold.").waitFor()
  })

  it("is detected by a browser without storage, as far as the page can tell", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const forged = forge(honest, ({ sequence }) => (sequence === 2 ? { commitment: "d".repeat(64) } : {}))
    const { page } = await visit("/v2/witness")
    await forbidStorage(page)
    await page.reload()
    await check(page)
    await said(page).getByText("This browser keeps nothing, so there is nothing from before").waitFor()
    await serve(page, forged)
    await check(page)
    await said(page).getByText("The chain differs from this page.").waitFor()
    assert.match(await page.locator(".checks__item").first().innerText(), /Stone 2 differs: commitment/u)
  })
})
