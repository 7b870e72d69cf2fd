/** One button checks links, revealed words and log, and says in one line what was shown and what was not. */
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { seal } from "../../src/altar/Hashes.ts"
import { origin, signer, signing } from "../lab/log/LogFixture.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { check, forge, said, serve, stones } from "../lab/browser/ChainPage.ts"
import { guide, createAct, loggedStone } from "../lab/browser/Guide.ts"
import { ask, newCommitment, post, TestServer } from "../lab/Fixture.ts"

/** Three stones in the log, of which the newest is revealed. */
const logged = Effect.gen(function* () {
  const { url } = yield* TestServer
  yield* stones(2)
  const [salt, text] = ["0123456789abcdef", "The heron will return by May."]
  const { id } = yield* loggedStone({ commitment: seal(salt, text) })
  yield* ask(`${url}/api/witness/${id}/reveal`, post({ salt, text }))
  return yield* stones(3)
})

guide(
  "the check of everything",
  (it) => {
    it("says in its first line what holds, what does not, and what was not checked", async ({ run, visit }) => {
      const honest = await run(logged)
      const { page } = await visit("/v2/witness", { bypassCSP: true })
      assert.match(await page.locator(".chain-state").innerText(), /over 3 stones[^]*names no witnesses/u)
      const first = () => said(page).locator(".verdict").first()
      const reads = (words: RegExp) =>
        Promise.all([check(page), first().filter({ hasText: words }).waitFor()]).then(() => undefined)
      await reads(
        /Everything holds\. Checked in this browser: 3 links, 1 revealed text of this page and the log's newest checkpoint\. Not checked: payments, and whether the log has each of these stones\./u,
      )
      await said(page).getByText("All 3 links hold.").waitFor()
      await said(page).getByText("Signed.").waitFor()
      await isAccessible(page, "everything holds")

      await page.route("**/log/checkpoint", (route) => route.abort())
      await reads(/Not everything could be checked\./u)
      await said(page).getByText("The log was not checked.").waitFor()
      await page.unroute("**/log/checkpoint")

      const forged = signer.note({ origin, size: 2, root: new Uint8Array(32).fill(7), extensions: [] })
      await page.route("**/log/checkpoint", (route) => route.fulfill({ body: forged, contentType: "text/plain" }))
      await reads(/Not everything holds\./u)
      await said(page).getByText("The history was rewritten.").waitFor()
      await said(page).getByText("All 3 links hold.").waitFor()
      await page.unroute("**/log/checkpoint")

      await serve(
        page,
        forge(honest, ({ sequence }) => (sequence === 2 ? { commitment: "a".repeat(64) } : {})),
      )
      await reads(/Not everything holds\./u)
      await said(page).getByText("The chain differs from this page.").waitFor()
    })
  },
  { log: { ...signing, checkpointFile: Option.none() } },
)

guide("the page of the chain", (it) => {
  it("shows a new stone while a visitor watches, on its thread, and checks it", async ({ run, visit }) => {
    await run(stones(1))
    const { page, url } = await visit("/api/health")
    await page.clock.install()
    await page.goto(`${url}/v2/witness`)
    await page.waitForLoadState("networkidle")
    await run(createAct("/api/witness", { commitment: newCommitment() }))
    const numbers = page.locator(".chain .link__number")
    for (let beat = 0; beat < 4 && (await numbers.count()) < 2; beat++) {
      const asked = page.waitForResponse((answer) => answer.request().method() === "HEAD")
      await page.clock.runFor(10_000)
      await asked
      await page.waitForLoadState("networkidle")
    }
    await numbers.nth(1).waitFor()
    assert.deepStrictEqual(await numbers.allInnerTexts(), ["Stone 2", "Stone 1"])
    assert.match(await page.locator(".chain-state").innerText(), /2 stones/u)
    await check(page)
    await said(page).getByText("All 2 links hold.").waitFor()
  })
})
