/** A visitor pays from the page: three clicks, one signature, one charge. */
import { assert } from "@effect/vitest"
import { ends, listen } from "../lab/browser/Announcements.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, settled, signed } from "../lab/browser/Guide.ts"
import { isFocused, take } from "../lab/browser/GuidePage.ts"
import * as Prayer from "../lab/browser/PrayerPage.ts"

guide("a prayer", (it) => {
  it("takes a sentence and four clicks from the first page to its receipt", async ({ visit, run }) => {
    const { page } = await visit("/v2/")
    const requests = Prayer.watch(page)
    const plate = page.locator(".entry a").first()
    const name = await plate.locator("b").innerText()
    await plate.click()
    await page.getByRole("link", { name: "Leave today's prayer" }).click()
    await Prayer.fund(page)
    await page.getByText("Play wallet with $10.00").first().waitFor()
    await Prayer.lay(page).click()
    await settled(page).waitFor()
    assert.isTrue(await page.locator(".receipt").evaluate((receipt) => receipt === document.activeElement))
    assert.match(await page.locator(".receipt").innerText(), /You paid \$0\.01\./u)
    assert.strictEqual(await page.getByRole("link", { name: "Another" }).count(), 0, "a spirit takes one prayer a day")
    const keepsake: { salt: string; words: string; commitment: string } = JSON.parse(
      (await page.locator(".keepsake code").textContent()) ?? "",
    )
    assert.strictEqual(keepsake.words, "I came by, and it was quiet.")
    const sent = requests.map((request) => request.postData() ?? "").join()
    assert.include(sent, keepsake.commitment)
    assert.notInclude(sent, keepsake.salt)
    assert.notInclude(sent, "quiet")
    assert.deepStrictEqual(await Prayer.kept(page), ["altar:play-wallet", `altar:words:${keepsake.commitment}`])
    await page.getByRole("link", { name: "Save as a file" }).click()
    await page.getByRole("link", { name: "See your act" }).click()
    await page.getByRole("heading", { name: `A visitor left a prayer for ${name}` }).waitFor()
    assert.strictEqual(signed(requests).length, 1)
    const [attempt, ...others] = await run(Prayer.attemptsAt(name.toLowerCase().replace(" ", "-")))
    assert.deepStrictEqual([attempt?.state, attempt?.key, others], ["settled", signed(requests)[0]?.key, []])
  })

  it("is laid once by a double click, even before the wallet is there", async ({ visit, run }) => {
    const { page } = await visit("/v2/spirits/lantern-axolotl")
    const requests = Prayer.watch(page)
    await page.route("**/sandbox/fund", async (route) => {
      await Prayer.lay(page).dblclick()
      await route.continue()
    })
    await Prayer.write(page)
    await Prayer.wallet(page).click()
    await settled(page).waitFor()
    assert.strictEqual(signed(requests).length, 1)
    assert.deepStrictEqual(await run(Prayer.statesAt("lantern-axolotl")), ["settled"])
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
    await Prayer.wallet(page).waitFor()
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
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("Leave the prayer") === true)
    await page.keyboard.press("Enter")
    await settled(page).waitFor()
    assert.match(await focused(), /^✓ ?Settled\./u)
    for (const place of ["[data-wallet][aria-live=polite]", "[data-progress][role=status]"]) {
      assert.isAbove(await page.locator(place).count(), 0, place)
    }
  })
})

guide("a completed payment", (it) => {
  it("replaces its form by its receipt, is announced once, and is there after a reload", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/kelp-seal", { bypassCSP: true })
    await listen(page)
    await page.reload()
    await page.getByText("Light a candle here").click()
    await take(page, "Light the candle")
    await page.getByLabel("Dedication").fill("For the seals of the bay")
    await page.getByRole("button", { name: "Light the candle for $1.00" }).click()
    await settled(page).waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Light the candle for" }).count(), 0)
    assert.isTrue(await isFocused(page, ".receipt"))
    assert.isTrue(await page.locator(".receipt").evaluate((one) => one.getBoundingClientRect().top < innerHeight))
    assert.deepStrictEqual(await ends(page), ["Settled. You paid $1.00."])
    await isAccessible(page, "lit")
    await page.getByText("Become the first keeper").click()
    await page.getByLabel("Why, if you like").fill("It looked at me.")
    await page.getByRole("button", { name: "Keep Kelp Seal for" }).click()
    await settled(page).nth(1).waitFor()
    const ids = await page.locator("[id]").evaluateAll((all) => all.map(({ id }) => id))
    assert.strictEqual(new Set(ids).size, ids.length)
    await page.reload()
    await page.locator("#candles .votive", { hasText: "For the seals of the bay" }).waitFor()
    assert.include(await page.locator("#candles").innerText(), "1 candle lit")
    assert.strictEqual(await page.getByText("No candle burns here.").count(), 0)
    await page.locator("#keeper blockquote", { hasText: "It looked at me." }).waitFor()
    assert.strictEqual(await page.getByText("This spirit has no keeper yet.").count(), 0)
  })

  it("that is refused is announced once, too, and its words stay", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/dew-spider")
    await listen(page)
    await page.reload()
    await Prayer.refusePaid(page, 409, "idempotency_conflict", "This key names another purchase.")
    await Prayer.fundAndLay(page)
    await page.getByText("This key names another purchase.").waitFor()
    assert.deepStrictEqual(await ends(page), ["Not done. This key names another purchase."])
    // Only the altar knows that nothing was charged, and here it does not say so.
    assert.strictEqual(await page.getByText(/nothing was charged/iu).count(), 0)
    assert.strictEqual((await Prayer.kept(page)).filter((slot) => slot.startsWith("altar:words:")).length, 1)
  })
})
