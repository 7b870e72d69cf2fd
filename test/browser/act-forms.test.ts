/** Every act has a form that follows from its contract, also one without a page that was written for it. */
import { assert } from "@effect/vitest"
import { sales } from "../../schema/altar/Sales.ts"
import { plainName } from "../../schema/payments/Sale.ts"
import { guide } from "../lab/browser/Guide.ts"

guide("the form of an act", (it) => {
  it("buys a prayer with a chosen spirit and sealed words", async ({ visit }) => {
    const { page } = await visit("/v2/buy/offerPrayer?spirit=moss-hare")
    await page.getByRole("button", { name: "Make a play wallet" }).click()
    await page.getByText("Play wallet with").waitFor()
    await page.getByLabel("Spirit").selectOption("lichen-yak")
    await page.getByLabel("Your words").fill("I came by, and it was quiet.")
    const paid = page.waitForResponse((response) => response.status() === 201)
    await page.getByRole("button", { name: "Lay a prayer for $0.01" }).click()
    const { record } = await (await paid).json()
    assert.deepInclude(record, { spirit: "lichen-yak", agentName: "A visitor" })
    assert.match(record.intentionCommitment, /^[0-9a-f]{64}$/u)
    await page.getByText("Settled", { exact: false }).first().waitFor()
  })

  it("has a field for each member of its request", async ({ visit }) => {
    const { page, url } = await visit("/api/health")
    for (const { identifier, sale } of sales) {
      await page.goto(`${url}/v2/buy/${identifier}`)
      assert.strictEqual(await page.locator("h1").innerText(), sale.title)
      const fields = await page
        .locator("form[data-pay] :is(input, select, textarea)")
        .evaluateAll((all) =>
          all.flatMap(({ dataset: { body, place, query, seal } }) => body ?? seal ?? query ?? place ?? []),
        )
      const names = new Set(fields.map(plainName))
      for (const name of Object.keys(sale.recorded.members ?? {}))
        assert.isTrue(names.has(name) || name === "rung", `${identifier} ${name}`)
    }
    const missing = await page.goto(`${url}/v2/buy/ringGong`)
    assert.strictEqual(missing?.status(), 404)
  })
})
