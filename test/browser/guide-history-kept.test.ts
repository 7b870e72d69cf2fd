/** A browser's earlier view of the chain: kept, compared with each later answer, and never contradicted by growth. */
import { assert } from "@effect/vitest"
import { isAccessible } from "../lab/browser/Browser.ts"
import { answerOn, check, ended, remember, said, serve, stones } from "../lab/browser/ChainPage.ts"
import { guide } from "../lab/browser/Guide.ts"
import { ask } from "../lab/Fixture.ts"

guide("a partial answer about the chain", (it) => {
  it("is not checked when its head is no number, or no hash", async ({ visit, run }) => {
    await run(stones(3))
    const { page, url } = await visit("/v2/witness")
    for (const head of [
      { sequence: "x", chainHash: "e".repeat(64) },
      { sequence: -1, chainHash: "e".repeat(64) },
      { sequence: 3, chainHash: "E" },
    ]) {
      const stranger = await answerOn(page, `${url}/v2/witness`, (segment) => ({
        ...segment,
        entries: segment.entries.slice(0, 2),
        head,
      }))
      await check(stranger)
      await ended(stranger)
      assert.match(await said(stranger).innerText(), /^\?\s*Not checked\./u)
      await stranger.close()
    }
  })

  it("fails without a link that this browser saw, and with another hash of its head", async ({ visit, run }) => {
    await run(stones(3))
    const { page, url } = await visit("/v2/witness")
    // Too far from what the page shows to be walked to.
    await remember(page, [[2000, "e".repeat(64), Date.now()]])
    for (const [chainHash, word] of [
      ["e".repeat(64), /^✗\s*Links are missing\./u],
      ["f".repeat(64), /^✗\s*History differs from what this browser saw on/u],
    ] as const) {
      const stranger = await answerOn(page, `${url}/v2/witness`, (segment, from) => ({
        ...segment,
        entries: from === 2000 ? [] : segment.entries,
        head: { sequence: 2000, chainHash },
      }))
      await ended(stranger)
      assert.match(await said(stranger).innerText(), word)
      await stranger.close()
    }
  })
})

guide("an emptied chain", (it) => {
  it("is rejected by a browser that saw its stones", async ({ visit, run }) => {
    const { page, url } = await visit("/v2/witness", { bypassCSP: true })
    const empty = await run(ask(`${url}/v2/witness`))
    await page.getByRole("button", { name: "Check everything here" }).click()
    await said(page).getByText("The chain is empty.").waitFor()
    await isAccessible(page, "an empty chain")
    await run(stones(3))
    await page.getByRole("button", { name: "Check everything here" }).click()
    await said(page).getByText("The chain has grown.").waitFor()
    await page.goto(`${url}/v2/witness?before=1`)
    await check(page)
    await said(page).getByText("All 3 links hold.").waitFor()
    await serve(page, [])
    await page.route("**/v2/witness", (route) =>
      route.fulfill({ contentType: "text/html; charset=utf-8", body: empty.text }),
    )
    await page.goto(`${url}/v2/witness`)
    await ended(page)
    const words = await said(page).innerText()
    assert.match(words, /^✗\s*History differs from what this browser saw on/u)
    assert.include(words, "ends before its first stone, but this browser saw stone 3 on")
  })
})

guide("an honest chain", (it) => {
  it("that grows stays green, also from one stone to a head that this browser saw", async ({ visit, run }) => {
    const before = await run(stones(2))
    const { page, url } = await visit("/v2/witness")
    await check(page)
    await said(page).getByText("All 2 links hold.").waitFor()
    await said(page).getByText("This browser sees this chain for the first time").waitFor()
    const after = await run(stones(5))
    // A page that is older than the chain contradicts nothing.
    await check(page)
    await said(page).getByText("All 2 links hold.").waitFor()
    await page.reload()
    await check(page)
    await said(page).getByText("All 5 links hold.").waitFor()
    assert.match(
      await said(page).innerText(),
      /It fits what this browser saw on [^,]+, \d\d:\d\d UTC, up to stone 2\./u,
    )
    assert.deepStrictEqual(await page.locator("[data-verdict]").allInnerTexts(), Array(5).fill("✓ holds"))
    await page.goto(`${url}/witness/${before[1]?.id}`)
    await check(page)
    await said(page).getByText("Stone 2 holds.").waitFor()
    assert.match(await said(page).innerText(), /Links 2 to 5 were walked[^]*up to stone 5\./u)
    await page.goto(`${url}/witness/${after[4]?.id}`)
    await check(page)
    await said(page).getByText("Stone 5 holds.").waitFor()
  })
})
