/** The reference in a browser: found, copied and tried without leaving the page. */
import { assert } from "@effect/vitest"
import { guide } from "../lab/browser/Guide.ts"

guide("the reference of the API", (it) => {
  it("finds an operation by a code, and reports an empty result", async ({ visit }) => {
    const { page } = await visit("/docs")
    const field = page.getByLabel("Find an operation, a field or a code")
    await field.fill("witness_ceiling_today")
    await page.getByText("One operation.").waitFor()
    assert.strictEqual(await page.locator("[data-operation]:visible").count(), 1)
    await page.locator("#setWitnessStone").waitFor()
    await field.fill("quetzal")
    await page.getByText("Nothing has these words.").waitFor()
    await field.fill("")
    await page.locator("#health").waitFor()
  })

  it("shows all examples in one language, and remembers it", async ({ visit }) => {
    const { page, url } = await visit("/docs")
    const sample = (kind: string) => page.locator(`#listSpirits-${kind}`)
    await sample("curl").waitFor()
    await page.getByLabel("Python", { exact: true }).check()
    await sample("python").waitFor()
    assert.isFalse(await sample("curl").isVisible())
    await page.goto(`${url}/docs#readRoom`)
    await page.reload()
    await page.locator("#readRoom-python").waitFor()
    assert.isFalse(await page.locator("#readRoom-curl").isVisible())
    await page.getByLabel("Command", { exact: true }).check()
    await page.locator("#health-curl").waitFor()
  })

  for (const [width, height] of [
    [360, 780],
    [1366, 768],
  ] as const)
    it(`shows a first call without scrolling, ${width} pixels wide, and says that its prices are play money`, async ({
      visit,
    }) => {
      const { page } = await visit("/docs", { viewport: { width, height } })
      const box = await page.locator("#first-curl").boundingBox()
      assert.isAtMost((box?.y ?? height) + (box?.height ?? 0), height)
      const sample = page.locator("pre", { has: page.locator("#first-curl") })
      assert.strictEqual(await sample.evaluate((one) => one.scrollWidth - one.clientWidth), 0)
      await page.getByLabel("Go", { exact: true }).check()
      await page.locator("#first-go").waitFor()
      const prices = page.locator('h3:has-text("$"), nav li:has-text("$")')
      assert.isAbove(await prices.count(), 10)
      assert.strictEqual(await prices.locator(".price").count(), await prices.count())
      assert.notMatch(await page.locator("h3").allInnerTexts().then(String), /USD\)/u)
    })

  it("sends requests: a read gets its answer, an act its offer, silence our message", async ({ visit }) => {
    const { page } = await visit("/docs")
    const trial = async (id: string, said: string) => {
      const box = page.locator(`#${id} [data-try]`)
      await box.getByText("Try it here").click()
      await box.getByRole("button", { name: "Send" }).click()
      await box.getByRole("status").filter({ hasText: said }).waitFor()
      return box.locator("[data-answer]")
    }
    const list = await trial("listSpirits", "200 after")
    assert.include((await list.textContent()) ?? "", '"moss-hare"')
    const offer = await trial("setWitnessStone", "402 after")
    assert.include((await offer.textContent()) ?? "", '"payment_required"')
    await page.context().setOffline(true)
    await trial("health", "The server could not be reached.")
    await page.context().setOffline(false)
  })

  it("sends requests where the browser has no secure context, and sends nothing on its own", async ({ visit }) => {
    const { page, url } = await visit("/api/health")
    await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, "randomUUID"))
    await page.goto(`${url}/docs`)
    const box = page.locator("#setWitnessStone [data-try]")
    await box.getByText("Try it here").click()
    assert.match(await box.locator('[name="Idempotency-Key"]').inputValue(), /^docs-[0-9a-f]{32}$/u)
    await box.getByRole("button", { name: "Send" }).click()
    await box.getByRole("status").filter({ hasText: "402 after" }).waitFor()
    assert.strictEqual(page.url(), `${url}/docs`)
  })
})
