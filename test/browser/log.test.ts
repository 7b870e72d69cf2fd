/** The log in a browser, over the links that were hashed, and red for other stones. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { guideOf, loggedStone } from "../lab/browser/Guide.ts"
import { origin, signer, signing } from "../lab/log/LogFixture.ts"
import { ask } from "../lab/Fixture.ts"

const said = (page: Page) => page.locator(".verify [role=status]")
const lines = (page: Page) => page.locator(".verify .checks")
const press = (page: Page, name: string) => page.getByRole("button", { name }).click()

/** Checks the whole chain, and waits for the line of its log. */
const log = async (page: Page, kind: "holds" | "broken" | "unchecked", words: string) => {
  await press(page, "Check everything")
  await lines(page).locator(`.verdict--${kind}`, { hasText: words }).waitFor()
}

/** A checkpoint that the log signed over other stones. */
const signed = (size: number) => signer.note({ origin, size, root: new Uint8Array(32).fill(7), extensions: [] })

guideOf({ log: signing })("the log", (it) => {
  it("has the stones that were hashed; with others, more stones or another key it turns red", async (guest) => {
    await guest.run(loggedStone())
    const { page } = await guest.visit("/v2/witness")
    await log(page, "holds", "Log: right.")
    const { text: older } = await guest.run(ask(`${guest.url}/log/checkpoint`))
    for (const _ of [1, 2, 3]) await guest.run(loggedStone())
    await page.reload()
    await log(page, "holds", "Log: right.")
    const answer = (body: string) =>
      page.route("**/log/checkpoint", (route) => route.fulfill({ body, contentType: "text/plain" }))
    // An old copy covers fewer of the same stones.
    await answer(older)
    await log(page, "holds", "Log: right.")
    await page.unroute("**/log/checkpoint")
    for (const [size, words] of [
      [4, "its root is not that of these links"],
      [2, "Log: wrong. It signed a checkpoint over 2 stones, and its root is not that of these links."],
      [5000, "and the chain ends before"],
    ] as const) {
      await answer(signed(size))
      await log(page, "broken", words)
      assert.match(await said(page).innerText(), /^✗\s*The chain is broken\./u)
      await page.unroute("**/log/checkpoint")
    }
    await answer(older.replace(/^\d+$/mu, "3"))
    await log(page, "broken", "Log: wrong.")
    await page.unroute("**/log/checkpoint")
    await page.evaluate(() => {
      const kept = JSON.parse(localStorage.getItem("altar:checkpoint") ?? "{}")
      localStorage.setItem("altar:checkpoint", JSON.stringify({ ...kept, vkey: "another+key" }))
    })
    await log(page, "broken", "It has another key.")
    await press(page, "Forget what this browser saw")
    await lines(page).locator(".verdict--holds", { hasText: "Log: right." }).waitFor()
  })

  it("reports a browser that cannot check signatures", async ({ visit }) => {
    const { page, url } = await visit("/api/health")
    await page.addInitScript(() => {
      const real = crypto.subtle.importKey
      Object.assign(crypto.subtle, {
        importKey: (...of: ReadonlyArray<unknown>) =>
          of[2] === "Ed25519"
            ? Promise.reject(new DOMException("no", "NotSupportedError"))
            : Reflect.apply(real, crypto.subtle, of),
      })
    })
    await page.goto(`${url}/v2/witness`)
    await log(page, "unchecked", "This browser cannot check Ed25519 signatures")
  })
})
