/** The wall as a place to light at: its form, the lights beside their candle, a candle's own page, and entries that open. */
import { heightOf } from "../../src/web/v2/page/candleShape.ts"
import { guide, createAct, settled } from "../lab/browser/Guide.ts"
import { ask } from "../lab/Fixture.ts"
import { assert, assertEach } from "../lab/Suites.ts"

guide("the candle wall", (it) => {
  it("lights a candle with the chosen spirit and days", async ({ visit, url, run }) => {
    const { page } = await visit("/v2/candles")
    const form = page.locator("#light form")
    await form.getByLabel("With which spirit").selectOption("lantern-axolotl")
    await form.getByLabel("seven days, $3").check()
    await form.getByLabel("Dedication").fill("For the ferry home")
    await form.getByRole("button", { name: "Make a play wallet" }).click()
    await form.getByRole("button", { name: "Light the candle for $3.00" }).click()
    await settled(page).waitFor()
    await page.locator("#wall .votive", { hasText: "For the ferry home" }).waitFor()
    assert.strictEqual(await page.locator("#wall").count(), 1)
    const { text } = await run(ask(`${url}/api/candles?spirit=lantern-axolotl`))
    const { candles }: { candles: ReadonlyArray<{ dedication: string; rung: string }> } = JSON.parse(text)
    assertEach(candles, ({ dedication, rung }) => [dedication, rung], [["For the ferry home", "week"]])
  })

  it("appears once, however often the page lays it out", async ({ visit, run }) => {
    const { page, url } = await visit("/api/health")
    await page.clock.install()
    await page.goto(`${url}/v2/candles`)
    await page.waitForLoadState("networkidle")
    for (const dedication of ["For the first", "For the second", "For the third"]) {
      await run(createAct("/api/candles/day/moss-hare", { dedication }))
      await page.clock.runFor(10_000)
      await page.locator("#wall > .shelf .votive", { hasText: dedication }).waitFor()
      assert.strictEqual(await page.locator("#wall").count(), 1)
      assert.strictEqual(await page.locator("[data-renew]").count(), 2)
    }
  })

  it("draws every light beside its candle, and glows in dark mode", async ({ visit, run }) => {
    const { id } = await run(createAct("/api/candles/week/moss-hare", { dedication: "For Grandma, who kept bees" }))
    for (const rung of ["day", "week", "month"])
      await run(createAct(`/api/candles/${rung}/moss-hare`, { parentId: id }))
    const { page } = await visit("/v2/candles?spirit=moss-hare", { colorScheme: "dark" })
    const votive = page.locator(`#candle-${id}`)
    assert.strictEqual(await votive.locator(".candle--light").count(), 3)
    assert.include(await votive.innerText(), "3 lights added")
    const opacity = await page
      .locator(".glow__near")
      .first()
      .evaluate((stop) => getComputedStyle(stop).stopColor)
    assert.notMatch(opacity, /, 0\)$/u)
    // The page of the candle shows what is left of it, and that it burns.
    await page.goto(new URL(`/acts/${id}`, page.url()).href)
    const wax = page.locator(".plate .wax")
    assert.closeTo(Number(await wax.getAttribute("height")), heightOf("week", 1), 1)
    assert.isTrue(await page.locator(".plate .fire").isVisible())
    assert.include(await page.locator(".plate figcaption").innerText(), "6 days and 23 hours left")
  })

  it("has a catalog beside it, whose entries are folded at every width", async ({ visit }) => {
    const { page } = await visit("/v2/catalog", { viewport: { width: 360, height: 740 } })
    const entry = page.locator("#river-clay")
    const described = entry.getByText("A fistful of clay", { exact: false })
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 })
      assert.isBelow((await entry.boundingBox())?.height ?? 1000, 160)
      assert.isFalse(await described.isVisible())
    }
    await entry.getByText("About, and collect").click()
    await described.waitFor({ state: "visible" })
  })

  it("has the page of stones beside it, whose fields a phone does not zoom", async ({ visit }) => {
    const { page } = await visit("/v2/stone", { viewport: { width: 360, height: 740 } })
    const sizes = await page
      .locator("input.field:not([type=file]), textarea.field, select.field")
      .evaluateAll((fields) => fields.map((field) => Number.parseFloat(getComputedStyle(field).fontSize)))
    assert.isNotEmpty(sizes)
    assert.isAtLeast(Math.min(...sizes), 16)
  })
})
