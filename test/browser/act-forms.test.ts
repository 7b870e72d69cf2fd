/** The form that follows from an act's contract buys it. */
import { assert } from "@effect/vitest"
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
})
