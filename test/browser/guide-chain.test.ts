/** A browser checks the chain: against its hashes, against the page, and against what this browser saw before. */
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { origin, signer, signing } from "../lab/log/LogFixture.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { answers, type Change, check, ended, forge, said, serve, stones } from "../lab/browser/ChainPage.ts"
import { guide, loggedStone } from "../lab/browser/Guide.ts"
import { ask, newCommitment, post, TestServer } from "../lab/Fixture.ts"
import { terminal } from "../lab/Terminal.ts"

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

const changed: ReadonlyArray<readonly [words: RegExp, change: Change]> = [
  [
    /^✗\s*The chain does not hold\./u,
    ({ entries }) => ({
      entries: entries.map((entry) => (entry.sequence === 2 ? { ...entry, commitment: "a".repeat(64) } : entry)),
    }),
  ],
  [/^✗/u, ({ entries }) => ({ entries: entries.filter(({ sequence }) => sequence !== 2) })],
  [/^✗\s*Another head\.[^]*e{64}/u, ({ head }) => ({ head: { ...head, chainHash: "e".repeat(64) } })],
  [/^\?\s*Not checked\./u, () => ({ head: { sequence: "x", chainHash: "e".repeat(64) } })],
]

guide("the chain of stones", (it) => {
  it("is red when a link, a stone or the head was changed, and not checked when unreadable", async ({ visit, run }) => {
    await run(stones(3))
    const { page, url } = await visit("/v2/witness")
    for (const [words, change] of changed) {
      // The document does not judge these answers: no server of ours gives them.
      const stranger = await page.context().newPage()
      await answers(stranger, change)
      await stranger.goto(`${url}/v2/witness`)
      await stranger.evaluate(() => localStorage.clear())
      await check(stranger)
      await ended(stranger)
      assert.match(await said(stranger).innerText(), words)
      if (words.source.includes("does not hold")) {
        assert.strictEqual(await stranger.locator('[data-link="2"] [data-verdict]').innerText(), "✗ broken")
        assert.strictEqual(await stranger.locator('[data-link="1"] [data-verdict]').innerText(), "✓ holds")
        assert.match(await stranger.locator(".checks__item").first().innerText(), /^✗\s*Stone [23] does not hold/u)
      }
      await stranger.close()
    }
    await page.route("**/api/witness/chain?*", (route) => route.abort())
    await check(page)
    await said(page).getByText("The altar does not answer").waitFor()
  })

  it("with forged and consistent hashes turns the page red, which names the difference", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const [first, second] = honest
    const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "a".repeat(64) } : {}))
    const { page, url } = await visit("/v2/witness", { bypassCSP: true })
    await serve(page, forged)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗\s*The chain differs from this page\./u)
    assert.strictEqual(await page.locator('[data-link="1"] [data-verdict]').innerText(), "✗ differs")
    const report = page.locator(".checks__item").first()
    const words = (await report.innerText()).replace(/\s+/gu, " ")
    assert.match(words, /Stone 1 differs: commitment, chain hash/u)
    assert.include(words, first?.commitment ?? "none")
    assert.include(words, "a".repeat(64))
    assert.strictEqual(await page.locator("[data-verify-status] .verdict--holds").count(), 0)
    await isAccessible(page, "a forged chain")

    await page.goto(`${url}/witness/${first?.id}`)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗/u)
    assert.match((await page.locator('[data-part="commitment"]').getAttribute("class")) ?? "", /differs/u)
    assert.notMatch((await page.locator('[data-part="transaction"]').getAttribute("class")) ?? "", /differs/u)
    await isAccessible(page, "a forged stone")

    // Another stone than the requested one proves nothing either.
    await page.unrouteAll()
    await page.route("**/api/witness/chain?*", async (route) => {
      const response = await route.fetch({ url: route.request().url().replace("from=2", "from=3") })
      await route.fulfill({ response })
    })
    await page.goto(`${url}/witness/${second?.id}`)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗/u)
  })

  it("that the page agrees with differs from this browser's memory, and the page says so", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "c".repeat(64) } : {}))
    const { page } = await visit("/v2/witness")
    await check(page)
    await said(page).getByText("links hold.").waitFor()
    await serve(page, forged)
    // The page is rewritten too: nothing on it contradicts the chain.
    await page.route("**/v2/witness", async (route) => {
      const response = await route.fetch()
      let body = await response.text()
      for (const [index, entry] of honest.entries()) {
        const other = forged[index]
        if (other === undefined) continue
        body = body.replaceAll(entry.chainHash, other.chainHash).replaceAll(entry.commitment, other.commitment)
      }
      await route.fulfill({ response, body })
    })
    await page.reload()
    await ended(page)
    assert.match(
      await said(page).innerText(),
      /^✗\s*History differs from what this browser saw on \d+ \w+ \d{4}, \d\d:\d\d UTC\.\s+This page and the chain agree with each other, and not with what this browser saw\./u,
    )
    assert.strictEqual(await page.locator('[data-link="1"] [data-verdict]').innerText(), "✗ differs")
    // A visitor who knows the reason may start again.
    await page.getByRole("button", { name: "Forget what this browser saw" }).click()
    await said(page).getByText("links hold.").waitFor()
  })

  it("that grows stays green, also from one stone to a head that this browser saw", async ({ visit, run }) => {
    const before = await run(stones(3))
    const { page, url } = await visit("/v2/witness")
    await check(page)
    await said(page).getByText("All 3 links hold.").waitFor()
    await said(page).getByText("This browser sees this chain for the first time").waitFor()
    await run(stones(6))
    // A page that is older than the chain contradicts nothing.
    await check(page)
    await said(page).getByText("All 3 links hold.").waitFor()
    await page.reload()
    await check(page)
    await said(page).getByText("All 6 links hold.").waitFor()
    assert.match(
      await said(page).innerText(),
      /It fits what this browser saw on [^,]+, \d\d:\d\d UTC, up to stone 3\./u,
    )
    await page.goto(`${url}/witness/${before[1]?.id}`)
    await check(page)
    await said(page).getByText("Stone 2 holds.").waitFor()
    assert.match(await said(page).innerText(), /Links 2 to 6 were walked[^]*up to stone 6\./u)
    await said(page).getByText("The hash before stone 2 is the altar's word; check from stone 1 for that.").waitFor()
    const steps = await page.locator(".checks .steps > li").allInnerTexts()
    assert.strictEqual(steps.length, 5)
    for (const [index, step] of [
      /chain hash of stone 1/u,
      /NUL/u,
      /./u,
      /^✓\s*Same hash\./u,
      /^✓\s*Same stone\./u,
    ].entries())
      assert.match(steps[index] ?? "", step)
  })

  it("that the altar itself reports as broken is named with its stone, and no payment", async ({ visit, run }) => {
    await run(stones(3))
    const sql = await run(SqlClient.SqlClient)
    const { page, url } = await visit("/v2/witness")
    await run(sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = 2`)
    await check(page)
    await page.getByText("The chain does not hold.").waitFor()
    const words = await said(page).innerText()
    assert.include(words, "The chain is broken at stone 2: witness stone 2 does not hash to its chainHash.")
    assert.notMatch(words, /If you sent a payment|The server failed/u)
    const verified = await run((await run(terminal)).run(["verify", "--url", url]))
    assert.strictEqual(verified.code, 1, verified.stderr)
    assert.include(verified.stderr, "BROKEN: the altar says so itself. The chain is broken at stone 2: ")
  })
})
