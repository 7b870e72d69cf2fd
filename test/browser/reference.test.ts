/** The reference in a browser: found, copied and tried without leaving the page. */
import { assert } from "@effect/vitest"
import { guide } from "../lab/browser/Guide.ts"

guide("the reference of the API", (it) => {
  it("finds an operation, and shows its answer, its offer, or that the server is silent", async ({ visit }) => {
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
    assert.strictEqual(new URL(page.url()).pathname, "/docs")
    await page.context().setOffline(true)
    await trial("health", "The server could not be reached.")
    await page.context().setOffline(false)
  })
})
