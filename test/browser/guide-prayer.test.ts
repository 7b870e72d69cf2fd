/** A visitor pays from the page: three clicks, one signature, one charge. */
import { assert } from "@effect/vitest"
import { guide, settled, signed } from "../lab/browser/Guide.ts"
import { ask } from "../lab/Fixture.ts"
import { attemptsAt, fundAndLay, kept, lay, statesAt, wallet, watch } from "../lab/browser/PrayerPage.ts"

guide("a prayer", (it) => {
  it("takes three clicks from the first page to its receipt", async ({ visit, run }) => {
    const { page, url } = await visit("/v2/")
    const requests = watch(page)
    // Home shows another spirit each day.
    const door = page.getByRole("link", { name: /^Lay a prayer with / })
    const name = (await door.innerText()).slice("Lay a prayer with ".length)
    await door.click()
    await wallet(page).click()
    await page.getByText("Play wallet with $10.00 of play money").first().waitFor()
    await lay(page).click()
    await settled(page).waitFor()
    assert.isTrue(await page.locator(".receipt").evaluate((receipt) => receipt === document.activeElement))
    assert.match(await page.locator(".receipt").innerText(), /\$0\.01 of play money was charged, once/u)
    const keepsake: { salt: string; words: string; commitment: string } = JSON.parse(
      await page.locator(".keepsake code").innerText(),
    )
    assert.strictEqual(keepsake.words, "I came by, and it was quiet.")
    const sent = requests.map((request) => request.postData() ?? "").join()
    assert.include(sent, keepsake.commitment)
    assert.notInclude(sent, keepsake.salt)
    assert.notInclude(sent, "quiet")
    assert.deepStrictEqual(await kept(page), ["altar:play-wallet", `altar:words:${keepsake.commitment}`])
    const saving = page.waitForEvent("download")
    await page.getByRole("link", { name: "Save as a file" }).click()
    assert.match((await saving).suggestedFilename(), /^[0-9a-f-]{36}\.json$/u)
    await page.getByRole("link", { name: "Open the act" }).click()
    await page.getByRole("heading", { name: `A visitor laid a prayer with ${name}` }).waitFor()
    assert.strictEqual(signed(requests).length, 1)
    const [attempt, ...others] = await run(attemptsAt(name.toLowerCase().replace(" ", "-")))
    assert.deepStrictEqual([attempt?.state, attempt?.key, others], ["settled", signed(requests)[0]?.key, []])
    const field = await run(ask(`${url}/api/field`))
    assert.deepInclude(field.json, { prayersToday: 1, centsSettled: 1 })
  })

  it("is laid once by a double click, even before the wallet is there", async ({ visit, run }) => {
    const { page } = await visit("/v2/spirits/lantern-axolotl")
    const requests = watch(page)
    await page.route("**/sandbox/fund", async (route) => {
      await lay(page).dblclick()
      await route.continue()
    })
    await wallet(page).click()
    await settled(page).waitFor()
    assert.strictEqual(signed(requests).length, 1)
    assert.deepStrictEqual(await run(statesAt("lantern-axolotl")), ["settled"])
  })

  it("is paid from a play wallet that remembers its balance, and is not funded again", async ({ visit }) => {
    const { page, url } = await visit("/v2/spirits/moon-gecko")
    const requests = watch(page)
    await wallet(page).click()
    await page.getByText("Play wallet with $10.00").first().waitFor()
    await lay(page).click()
    await settled(page).waitFor()
    await page.goto(`${url}/v2/spirits/frost-stoat`)
    await page.getByText("Play wallet with $9.99 of play money").first().waitFor()
    assert.strictEqual(requests.filter((request) => request.url().endsWith("/sandbox/fund")).length, 1)
  })

  it("is paid from a play wallet that is funded when it cannot pay for the dearest act", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    await page.evaluate(() => sessionStorage.setItem("altar:play-wallet", `0x${"8".repeat(64)} 8990000`))
    await page.reload()
    await page.getByText("Play wallet with $10.00 of play money").first().waitFor()
  })

  it("can be laid by keyboard alone, and a screen reader announces each step", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/orchard-dormouse")
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim().replace(/\s+/gu, " ") ?? "")
    const reach = async (name: string) => {
      for (let stop = 0; stop < 40; stop++) {
        await page.keyboard.press("Tab")
        const label = await page.evaluate(() => {
          const active = document.activeElement
          return active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement
            ? (active.labels?.[0]?.textContent ?? "")
            : (active?.textContent ?? "")
        })
        if (label.trim().replace(/\s+/gu, " ") === name) return
      }
      assert.fail(`${name} is not reached`)
    }
    await wallet(page).waitFor()
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(), "Skip to the content")
    await page.keyboard.press("Enter")
    await reach("Your words")
    await page.keyboard.press("Control+A")
    await page.keyboard.type("By keyboard.")
    await reach("Your public name")
    await reach("Make a play wallet")
    await page.keyboard.press("Enter")
    await page.getByText("Play wallet with").first().waitFor()
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("Lay the prayer") === true)
    await page.keyboard.press("Enter")
    await settled(page).waitFor()
    assert.match(await focused(), /^✓ ?Settled\./u)
    for (const place of ["[data-wallet][aria-live=polite]", "[data-progress][role=status]"]) {
      assert.isAbove(await page.locator(place).count(), 0, place)
    }
    await reach("Open the act")
  })

  it("for a taken altar is refused, and nothing is signed", async ({ visit }) => {
    const first = await visit("/v2/spirits/dew-spider")
    const second = await visit("/v2/spirits/dew-spider")
    const requests = watch(second.page)
    for (const { page } of [first, second]) {
      await fundAndLay(page)
      await page.locator(page === first.page ? ".receipt" : "#prayer .verdict--broken >> text=Not done.").waitFor()
    }
    assert.match(await second.page.locator("#prayer [data-progress]").innerText(), /today/iu)
    assert.deepStrictEqual(signed(requests), [])
  })
})
