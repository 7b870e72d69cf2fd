/** The log in a browser: a stone's proof, a log that only grew, and red when its history was rewritten. */
import { assert } from "@effect/vitest"
import { Option } from "effect"
import type { Page } from "playwright-core"
import { origin, signer, signing } from "../lab/log/LogFixture.ts"
import { guide, loggedStone } from "../lab/browser/Guide.ts"
import { ask } from "../lab/Fixture.ts"

const checks = (page: Page, name: string, kind: "holds" | "broken" | "unchecked", words: string) =>
  page
    .getByRole("button", { name })
    .click()
    .then(() =>
      page.locator(`:is([data-log-status], [data-verify-status]) .verdict--${kind}`, { hasText: words }).waitFor(),
    )

const unfold = (page: Page) => page.getByText("The proof: link, place in the log, receipt").click()

const remember = (page: Page, size: number, vkey = signer.vkey) =>
  page.evaluate(
    ([key, note]) => localStorage.setItem("altar:log", JSON.stringify({ vkey: key, note, at: Date.now() })),
    [vkey, signer.note({ origin, size, root: new Uint8Array(32).fill(7), extensions: [] })] as const,
  )

guide(
  "the log",
  (it) => {
    it("proves a stone, but by no checkpoint of another history than this browser saw", async ({ visit, run }) => {
      const { id } = await run(loggedStone())
      const { page, url } = await visit(`/witness/${id}`)
      await unfold(page)
      const { text: older } = await run(ask(`${url}/api/witness/${id}/proof`))
      const checking = "Check the proof here"
      await checks(page, checking, "holds", "The log has this stone.")
      for (const _ of [1, 2]) await run(loggedStone())
      await checks(page, checking, "holds", "The log has this stone.")
      await page.getByText("It is of the same history that this browser saw on").waitFor()
      // Nor is an old copy of the proof a lie.
      await page.route("**/proof", async (route) => route.fulfill({ response: await route.fetch(), body: older }))
      await checks(page, checking, "holds", "The log has this stone.")
      await page.unroute("**/proof")
      // The same key signed both: a fork, whichever side of it is longer.
      await remember(page, 1)
      await checks(page, checking, "broken", "The history was rewritten.")
      assert.strictEqual(await page.locator("[data-log-status] .verdict--holds").count(), 0)
      assert.strictEqual(await page.locator("[data-log-status] pre").count(), 2)
      await remember(page, 5000)
      await checks(page, checking, "unchecked", "Not comparable.")
      assert.strictEqual(await page.locator("[data-log-status] .verdict--holds").count(), 0)
      await page.getByRole("button", { name: "Forget what this browser saw" }).click()
      await page.locator("[data-log-status] .verdict--holds", { hasText: "The log has this stone." }).waitFor()
      const proof = page.locator("[data-proof]")
      await proof.evaluate((root) => {
        root.setAttribute(
          "data-stone",
          (root.getAttribute("data-stone") ?? "").replace(/"commitment":"../u, '"commitment":"zz'),
        )
      })
      await checks(page, "Check the proof here", "broken", "Not proved.")
    })

    it("is shown to grow, and a rewritten history turns red", async ({ visit, url, run }) => {
      await run(loggedStone())
      const { page } = await visit("/v2/witness")
      await checks(page, "Check everything", "holds", "Signed.")
      const { text: older } = await run(ask(`${url}/log/checkpoint`))
      for (const _ of [1, 2, 3]) await run(loggedStone())
      await page.reload()
      await checks(page, "Check everything", "holds", "It only grew.")
      await page.route("**/log/checkpoint", (route) => route.fulfill({ body: older, contentType: "text/plain" }))
      await checks(page, "Check everything", "unchecked", "Older, not rewritten.")
      await page.unroute("**/log/checkpoint")
      await checks(page, "Check everything", "holds", "It only grew.")
      await remember(page, 1)
      await checks(page, "Check everything", "broken", "The history was rewritten.")
      await page.getByRole("button", { name: "Forget what this browser saw" }).click()
      await page.locator("[data-verify-status] .verdict--holds", { hasText: "Signed." }).waitFor()
      await remember(page, 5000)
      await checks(page, "Check everything", "unchecked", "Not comparable.")
      // Nor do tiles that fold to no signed root prove a rewritten history.
      await remember(page, 1)
      await page.route("**/log/tile/**", (route) => route.fulfill({ body: Buffer.alloc(32 * 256, 9) }))
      await checks(page, "Check everything", "unchecked", "Not comparable.")
      await page.unroute("**/log/tile/**")
      await remember(page, 1, "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
      await checks(page, "Check everything", "broken", "Another key.")
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
      await checks(page, "Check everything", "unchecked", "This browser cannot check Ed25519 signatures")
    })
  },
  { log: { ...signing, checkpointFile: Option.none() } },
)
