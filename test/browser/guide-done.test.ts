/** The result of a payment appears in its place: after an act of one's own at once, and after a reload. */
import { assert } from "@effect/vitest"
import { ends, heard, listen } from "../lab/browser/Announcements.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, settled } from "../lab/browser/Guide.ts"
import { isFocused, take } from "../lab/browser/GuidePage.ts"
import { kept } from "../lab/browser/PrayerPage.ts"

guide("a completed payment", (it) => {
  it("for a candle shows it on its shelf with the receipt, and is announced once", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/kelp-seal", { bypassCSP: true })
    await listen(page)
    await page.reload()
    assert.include(await page.locator("#candles").innerText(), "None lit")
    await page.getByText("Light a candle here").click()
    await take(page, "Light the candle")
    await page.getByLabel("Dedication").fill("For the seals of the bay")
    await page.getByRole("button", { name: "Light the candle for $1.00" }).click()
    await settled(page).waitFor()
    await page.locator("#candles .votive", { hasText: "For the seals of the bay" }).waitFor()
    assert.include(await page.locator("#candles").innerText(), "1 candle lit")
    assert.strictEqual(await page.getByText("None lit").count(), 0)
    assert.strictEqual(await page.getByText("No candle burns here.").count(), 0)
    assert.isTrue(await isFocused(page, ".receipt"))
    assert.isTrue(await page.locator(".receipt").evaluate((one) => one.getBoundingClientRect().top < innerHeight))
    assert.deepStrictEqual(await ends(page), ["Settled. $1.00 of play money was charged, once."])
    await isAccessible(page, "lit")
  })

  it("for a prayer or a keeper replaces the offer, and its receipt stays", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/slate-lynx")
    await take(page, "Lay the prayer")
    await page.getByRole("button", { name: "Lay the prayer for" }).click()
    await settled(page).waitFor()
    await page.getByText("Today's prayer was laid by A visitor").waitFor()
    assert.strictEqual(await page.getByText("Today's slot was free").count(), 0)
    assert.isTrue(await settled(page).isVisible())
    assert.strictEqual(await page.locator("#prayer").getByText("The exact call").count(), 1)
    await page.getByText("Become the first keeper").click()
    await page.getByLabel("Why, if you like").fill("It looked at me.")
    await page.getByRole("button", { name: "Keep Slate Lynx for" }).click()
    await page.locator("#keeper blockquote", { hasText: "It looked at me." }).waitFor()
    assert.strictEqual(await page.getByText("This spirit has no keeper yet.").count(), 0)
    assert.strictEqual(await settled(page).count(), 2)
    const ids = await page.locator("[id]").evaluateAll((all) => all.map(({ id }) => id))
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("that is refused is announced once, too", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/dew-spider")
    await listen(page)
    await page.reload()
    await take(page, "Lay the prayer")
    await page.route("**/api/prayers/**", (route) =>
      route.request().headers()["payment-signature"] === undefined
        ? route.continue()
        : route.fulfill({
            status: 409,
            headers: { "access-control-allow-origin": "*" },
            json: { ok: false, code: "idempotency_conflict", message: "This key names another purchase." },
          }),
    )
    await page.getByRole("button", { name: "Lay the prayer for" }).click()
    await page.getByText("This key names another purchase.").waitFor()
    assert.deepStrictEqual(await ends(page), ["Not done. This key names another purchase."])
    assert.isAbove((await heard(page)).length, 3)
    // Only the altar knows that nothing was charged, and here it does not say so.
    assert.strictEqual(await page.getByText(/nothing was charged/iu).count(), 0)
    assert.strictEqual((await kept(page)).filter((slot) => slot.startsWith("altar:words:")).length, 1)
  })
})
