/** The guide respects those who want stillness, and works without script. */
import { assert } from "@effect/vitest"
import { guide } from "../lab/browser/Guide.ts"
import { guidePaths } from "../lab/browser/GuidePaths.ts"

guide("the field guide", (it) => {
  it("moves no flame where no motion is wanted", async ({ visit, run }) => {
    await run(guidePaths)
    const { page, url } = await visit("/v2/candles?spirit=moss-hare", { reducedMotion: "reduce" })
    assert.match(await page.locator(".votive__left").first().innerText(), /^23 hours and \d+ minutes left/u)
    assert.strictEqual(await page.evaluate(() => document.getAnimations().length), 0)
    await page.emulateMedia({ reducedMotion: "no-preference" })
    await page.goto(`${url}/v2/candles`)
    assert.isAbove(await page.evaluate(() => document.getAnimations().length), 0)
  })

  it("can be read, searched and browsed without scripts", async ({ visit, run }) => {
    await run(guidePaths)
    const { page, url } = await visit("/v2/", { javaScriptEnabled: false })
    await page.getByRole("link", { name: "Kelp Seal", exact: true }).click()
    await page.getByRole("heading", { name: "Kelp Seal" }).waitFor()
    // The heading can be there before the rest of the page, and before the style that hides what needs script.
    await page.waitForLoadState("load")
    assert.include(await page.locator("#keeper").innerText(), "Kept by")
    assert.include(await page.locator("#prayer").innerText(), "Paying from this page needs script.")
    // Once for all forms of the page.
    await page.getByText("Without a wallet: let an agent or a terminal pay").click()
    assert.isTrue(await page.locator("#prayer-prompt").isVisible())
    assert.isFalse(await page.getByRole("button", { name: "Leave the prayer for" }).isVisible())
    await page.goto(`${url}/v2/acts`)
    await page.getByRole("searchbox", { name: "Number, hash, name, wallet, transaction or words" }).fill("#1")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
    await page.waitForLoadState("load")
    assert.isFalse(await page.getByRole("button", { name: "Check without sending" }).isVisible())
    await page.goto(`${url}/v2/acts?kind=candle`)
    assert.match(await page.locator(".journal").innerText(), /lit a \d+-day candle for /u)
    await page.goto(`${url}/v2/candles`)
    assert.match(
      await page.locator(".votive", { hasText: "Grandma" }).innerText(),
      /For Grandma, who kept bees[^]*23 hours and \d+ minutes left/u,
    )
    await page.getByLabel("Altar").selectOption("dew-spider")
    await page.getByRole("button", { name: "Show" }).click()
    await page.getByText("No candles yet.").waitFor()
  })

  it("marks the operation that is read, and finds operations and error codes by their words", async ({ visit }) => {
    const { page, url } = await visit("/docs#revealWitnessStone")
    const contents = page.getByRole("navigation", { name: "Operations" })
    assert.include(await contents.locator("[aria-current]").innerText(), "Reveal the words of a stone")
    const filter = contents.getByRole("searchbox")
    await filter.fill("post candles month")
    assert.strictEqual(await contents.getByRole("link").count(), 1)
    await filter.fill("nowhere")
    await contents.getByText("No operation has these words.").waitFor()
    assert.strictEqual(await contents.getByRole("link").count(), 0)
    await page.goto(`${url}/docs/errors`)
    const codes = page.getByRole("navigation", { name: "Error codes" })
    await codes.getByRole("searchbox").fill("404 no stone")
    assert.deepStrictEqual(await codes.getByRole("link").allInnerTexts(), ["404 witness_not_found"])
  })
})
