/** The reference in a browser: found, copied and tried without leaving the page. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { appearancesOf, assertAppearance, steps, visit } from "../lab/browser/Browser.ts"
import { guide } from "../lab/browser/Guide.ts"

guide("the reference of the API", (it) => {
  it.effect("finds an operation by a code, and says when nothing is found", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/docs")
      yield* steps(async () => {
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
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  )

  it.effect("asks the server: a read is answered, an act is offered, and a broken line is our own sentence", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/docs")
      yield* steps(async () => {
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
    }).pipe(Effect.scoped),
  )

  it.effect("asks the server where the browser has no secure context, and sends nothing by its address", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/api/health")
      yield* steps(async () => {
        await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, "randomUUID"))
        await page.goto(`${url}/docs`)
        const box = page.locator("#setWitnessStone [data-try]")
        await box.getByText("Try it here").click()
        assert.match(await box.locator('[name="Idempotency-Key"]').inputValue(), /^docs-[0-9a-f]{32}$/u)
        await box.getByRole("button", { name: "Send" }).click()
        await box.getByRole("status").filter({ hasText: "402 after" }).waitFor()
        assert.strictEqual(page.url(), `${url}/docs`)
      })
    }).pipe(Effect.scoped),
  )

  it.effect("looks well with everything open, at every width and in both themes", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/docs", { bypassCSP: true })
      yield* steps(() => assertAppearance(page, appearancesOf(320, 1440), "/docs", "docs"))
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  )
})
