/** The guide shows what others left, works without script, and says when payments are not configured. */
import { assert } from "@effect/vitest"
import { spirits } from "../../src/altar/Spirits.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, createAct } from "../lab/browser/Guide.ts"
import { guidePaths } from "../lab/browser/GuidePaths.ts"
import { newCommitment } from "../lab/Fixture.ts"

guide("the field guide", (it) => {
  it("shows what lies on an altar: its candles, keeper, offerings and stones", async ({ visit, run }) => {
    await run(guidePaths)
    // Today, whatever day it was when the others were left.
    await run(
      createAct("/api/prayers/ink-cuttlefish", { agentName: "W".repeat(64), intentionCommitment: newCommitment() }),
    )
    const { page, url } = await visit("/v2/spirits/quartz-elephant")
    assert.strictEqual(await page.locator("#candles .votive").count(), 12)
    assert.include(await page.locator("#candles").innerText(), "12 candles lit")
    assert.match(await page.locator("#keeper").innerText(), /Kept by\s+W{64}[^]*R{280}/u)
    assert.deepStrictEqual(await page.locator(".offering__name").allInnerTexts(), [
      "Boxer Crab, Undefeated",
      "Pixel Moon Gecko",
      "Sea Glass",
    ])
    const stones = (await page.locator("#stones").innerText()).replace(/\s+/gu, " ")
    assert.match(stones, /W{280}[^]*سوف تعود[^]*revealed, words hidden/u)
    assert.notInclude(stones, "example.com")
    await page.goto(`${url}/v2/spirits/ink-cuttlefish`)
    assert.match(await page.locator("#prayer").innerText(), /was laid by\s+W{64}/u)
    await page.getByText("The exact call for $0.01").first().click()
    assert.include(await page.locator("#prayer-text").innerText(), "/api/prayers/ink-cuttlefish")
  })

  it("burns candles down while a page stays open, without motion where none is wanted", async ({ visit, run }) => {
    await run(guidePaths)
    const { page, url } = await visit("/api/health", { reducedMotion: "reduce" })
    await page.clock.install()
    await page.goto(`${url}/v2/candles?spirit=moss-hare`)
    const height = async () => Number(await page.locator(".wax").first().getAttribute("height"))
    const [before, words] = [await height(), page.locator("[data-left]").first()]
    assert.match(await words.innerText(), /^23 hours and \d+ minutes left$/u)
    await page.clock.runFor("12:00:00")
    assert.match(await words.innerText(), /^1[01] hours and \d+ minutes left$/u)
    assert.isBelow(await height(), before - 20)
    await page.clock.runFor("13:00:00")
    assert.strictEqual(await words.innerText(), "burned down")
    assert.isFalse(await page.locator(".fire").first().isVisible())
    assert.strictEqual(await page.evaluate(() => document.getAnimations().length), 0)
    await page.emulateMedia({ reducedMotion: "no-preference" })
    await page.goto(`${url}/v2/candles`)
    assert.isAbove(await page.evaluate(() => document.getAnimations().length), 0)
  })

  it("can be read, searched and browsed without scripts", async ({ visit, run }) => {
    await run(guidePaths)
    const { page, url } = await visit("/v2/", { javaScriptEnabled: false })
    assert.deepStrictEqual(
      (await page.locator(".entry__name").allInnerTexts()).sort(),
      spirits.map(({ name }) => name).sort(),
    )
    await page.getByRole("link", { name: "Kelp Seal", exact: true }).click()
    await page.getByRole("heading", { name: "Kelp Seal" }).waitFor()
    // The heading can be there before the rest of the page, and before the style that hides what needs script.
    await page.waitForLoadState("load")
    assert.include(await page.locator("#keeper").innerText(), "Kept by")
    assert.include(await page.locator("#prayer").innerText(), "Paying from this page needs script.")
    await page.locator("#prayer").getByText("The exact call for $0.01").click()
    assert.isTrue(await page.locator("#prayer-text").isVisible())
    assert.isFalse(await page.getByRole("button", { name: "Lay the prayer for" }).isVisible())
    await page.goto(`${url}/v2/search`)
    await page.getByLabel("Number, hash, name").fill("1")
    await page.getByRole("button", { name: "Search" }).click()
    await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
    await page.waitForLoadState("load")
    assert.isFalse(await page.getByRole("button", { name: "Check without sending" }).isVisible())
    await page.goto(`${url}/v2/candles`)
    assert.match(
      await page.locator(".votive", { hasText: "Grandma" }).innerText(),
      /For Grandma, who kept bees[^]*23 hours and \d+ minutes left/u,
    )
    await page.getByLabel("Altar").selectOption("dew-spider")
    await page.getByRole("button", { name: "Show" }).click()
    await page.getByText("The shelf is empty.").waitFor()
  })
})

guide(
  "a guide without payments",
  (it) => {
    it("says that payments are missing, offers none, and stays readable", async ({ visit }) => {
      const { page, url } = await visit("/v2/spirits/moss-hare", { bypassCSP: true })
      for (const path of ["/v2/spirits/moss-hare", "/v2/stone", "/v2/catalog"]) {
        await page.goto(`${url}${path}`)
        const notice = page.getByRole("note")
        assert.match(await notice.first().innerText(), /Payments are not configured[^]*Missing: PAY_TO, RPC_URL/u)
        assert.strictEqual(await page.locator("[data-pay]").count(), 0, path)
        await isAccessible(page, path)
      }
      await page.goto(`${url}/v2/`)
      await page.getByText("Nothing has been laid here yet.").waitFor()
      assert.match(await page.locator(".state").innerText(), /none yet/u)
    })
  },
  { payments: ["PAY_TO", "RPC_URL"] },
)
