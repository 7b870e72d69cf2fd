/** Salt and words are in the browser before anything is paid, come first on the receipt, and find their way back. */
import { buy } from "../lab/buyer/Purchase.ts"
import { readFile } from "node:fs/promises"
import { assert } from "@effect/vitest"
import type { Locator } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { pebbleWords } from "../../src/pages/templates/Pebble.ts"
import { guide, settled, signed } from "../lab/browser/Guide.ts"
import { isFocused } from "../lab/browser/GuidePage.ts"
import { restore, unsigned, watch } from "../lab/browser/PrayerPage.ts"
import { file, held, type Kept, keepsakeOf, savedBy, sentBy, setStone } from "../lab/browser/WordsPage.ts"
import { assertEach, valuesOf } from "../lab/Assertions.ts"

const dropOn = (field: Locator, kept: object) =>
  field.evaluate((at, json) => {
    const data = new DataTransfer()
    data.items.add(new File([json], "stone.json", { type: "application/json" }))
    at.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
  }, JSON.stringify(kept))

guide("sealed words", (it) => {
  it("of a stone are stored before anything is sent, shown first, and filled in on its page", async ({ visit }) => {
    const { page } = await visit("/v2/stone", { bypassCSP: true })
    const requests = watch(page)
    const words = "The heron will return by May."
    const atPrice: Array<ReadonlyArray<Kept>> = []
    await page.route(
      (url) => url.pathname === "/api/witness",
      async (route) => {
        atPrice.push(await held(page))
        await route.continue()
      },
    )
    await setStone(page, words)
    await settled(page).waitFor()
    const kept = await keepsakeOf(page)
    assert.strictEqual(kept.commitment, seal(kept.salt, words))
    // For the price already, and for the payment.
    assertEach(atPrice, (then) => then.map(({ commitment, salt }) => [commitment, salt]), [
      [[kept.commitment, kept.salt]],
      [[kept.commitment, kept.salt]],
    ])
    await page.getByText("Your words are in this browser").waitFor()
    await isAccessible(page, "keep this")
    await page.locator(".bought").getByText(pebbleWords(kept.commitment), { exact: true }).waitFor()
    const saved = await savedBy(page, "Save as a file")
    assert.deepStrictEqual(JSON.parse(await readFile(saved, "utf8")), kept)
    await page.getByText("Saved.", { exact: true }).waitFor()
    await page.getByRole("link", { name: "See your stone" }).click()
    await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
    // Their owner reads them where everyone will, and finds them filled in below.
    await page.locator(".text").getByText("Only you can read this.").waitFor()
    assert.include(await page.locator(".text").innerText(), words)
    assert.strictEqual(await page.locator("#check-form").isVisible(), false)
    await page.getByText("Check these words, or reveal them").click()
    await page.locator("#check").getByText("Filled in.").first().waitFor()
    assert.strictEqual(await page.locator("#check-salt").inputValue(), kept.salt)
    await page.getByRole("button", { name: "Check without sending" }).click()
    await page.getByText("They match.", { exact: true }).waitFor()
    assert.notInclude(sentBy(requests), kept.salt)
    assert.notInclude(sentBy(requests), "heron")
    await page.locator("#check-words").fill("Another text")
    await page.getByRole("button", { name: "Check and reveal" }).click()
    await page.getByText("They do not match. Nothing was sent.").waitFor()
    assert.notInclude(sentBy(requests), "Another")
    await page.locator("#check-words").fill(words)
    await page.getByRole("button", { name: "Open it" }).click()
    await page.getByRole("button", { name: "Keep it sealed" }).click()
    await page.getByRole("button", { name: "Open it" }).click()
    await page.getByRole("button", { name: "Reveal to everyone" }).click()
    // The words stand where every reader finds them, have the focus, and are no longer called sealed.
    await page.getByText(/^These words existed on /u).waitFor()
    assert.include(await page.locator("h1").innerText(), words)
    assert.isTrue(await isFocused(page, "h1"))
    assert.deepStrictEqual(valuesOf(await held(page), "revealed"), [true])
    assert.strictEqual(await page.locator("[data-reveal], [data-owner]").count(), 0)
    assert.strictEqual(await page.locator("#share-address").count(), 1)
    assert.strictEqual(signed(requests).length, 1)
  })

  it("are restored from a file that is chosen or dropped, and from no other", async ({ visit, run }) => {
    const [salt, words] = ["0123456789abcdef", "Snow before the ninth."]
    const kept = { salt, words, commitment: seal(salt, words) }
    const { record: stone } = await run(buy("/api/witness", { commitment: kept.commitment }))
    const { page } = await visit(`/witness/${stone.id}`)
    await page.getByText("reveal them to everyone").click()
    const requests = watch(page)
    const filled = page.locator("#check").getByText("Filled in.").first()
    const input = page.getByLabel("Your saved file")
    const salted = () => page.locator("#check-salt").inputValue()
    for (const [bad, why] of [
      [{ ...kept, words: "Snow before the tenth." }, "do not hash to its commitment"],
      [{ salt, words: "Other", commitment: seal(salt, "Other") }, "another commitment"],
      [{ name: "no keepsake" }, "not a file of sealed words"],
    ] as const) {
      await input.setInputFiles(file(bad))
      await page.locator("#check .verdict--broken", { hasText: why }).waitFor()
      assert.strictEqual(await salted(), "", why)
    }
    await input.setInputFiles(file(kept))
    await filled.waitFor()
    assert.strictEqual(await salted(), salt)
    // The page only reads the file.
    await page.reload()
    assert.strictEqual(await salted(), "")
    await page.getByText("reveal them to everyone").click()
    await dropOn(page.locator("#check-salt"), kept)
    await filled.waitFor()
    assert.strictEqual(await page.locator("#check-words").inputValue(), words)
    assert.notInclude(sentBy(requests), salt)
  })

  it("that are settled stay when their tab is restored from before the signature", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    let before: Awaited<ReturnType<typeof unsigned>> = []
    await page.route(
      (url) => url.pathname === "/api/witness",
      async (route) => {
        if (route.request().headers()["payment-signature"] !== undefined) before = await unsigned(page)
        await route.continue()
      },
    )
    await setStone(page, "Kept through a restart.")
    await settled(page).waitFor()
    await page.getByRole("link", { name: "Save as a file" }).click()
    assert.strictEqual(before.length, 1)
    await restore(page, before)
    await page.reload()
    await page.getByText("This tab was left before it held a signature").waitFor()
    assert.strictEqual(await page.getByText(/nothing was charged/iu).count(), 0)
    assert.deepStrictEqual(valuesOf(await held(page), "words"), ["Kept through a restart."])
  })

  it("are checked without being sent, by the recipe of the server", async ({ visit }) => {
    const { page } = await visit("/verify")
    const requests = watch(page)
    await page.getByText("Or type words and their salt").click()
    const kept = { salt: "0123456789abcdef", words: "  Grüße,\r\nund e\u0301 " }
    const commitment = seal(kept.salt, kept.words)
    for (const [typed, verdict] of [
      ["Grüße,\nund é", /^✓\s*They match\./u],
      ["Gruesse", /^✗\s*They do not match\./u],
    ] as const) {
      await page.locator("#check-salt").fill(kept.salt)
      await page.locator("#check-words").fill(typed)
      await page.locator("#check-commitment").fill(commitment)
      await page.getByRole("button", { name: "Check without sending" }).click()
      await page.locator("[data-check] .verdict").filter({ hasText: verdict }).waitFor()
    }
    // Its scripts, types and pictures may come late.
    const late = new Set(["script", "stylesheet", "font", "image"])
    assert.deepStrictEqual(
      requests.filter((request) => !late.has(request.resourceType())),
      [],
    )
    assert.notInclude(sentBy(requests), kept.salt)
  })
})
