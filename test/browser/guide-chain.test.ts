/** A browser checks the chain: by its hashes, against the page, and against the checkpoint that it remembers. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { seal, chainHash } from "../../src/altar/Hashes.ts"
import type { Segment } from "../../src/buyer/Records.ts"
import { reveal, salt } from "../lab/buyer/Sealed.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, guideOf, loggedStone } from "../lab/browser/Guide.ts"
import { ask, newCommitment, TestServer } from "../lab/Fixture.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { type ChainPoint, genesis } from "../../schema/altar/ChainCheck.ts"

type Entry = Segment["entries"][number]

type Change = (segment: Segment) => object

/** The whole chain with some links changed, and every hash computed again so that it fits. */
const forge = (entries: ReadonlyArray<Entry>, change: (entry: Entry) => Partial<Entry>) => {
  let before = genesis
  return entries.map((entry): Entry => {
    const link = { ...entry, ...change(entry), previousHash: before.chainHash }
    const forged = { ...link, chainHash: chainHash(link) }
    before = forged
    return forged
  })
}

const pointOf = (entry: Entry | undefined): ChainPoint =>
  entry === undefined ? genesis : { sequence: entry.sequence, chainHash: entry.chainHash }

/** Answers of the chain API as a server would give them that holds these links. */
const serve = (page: Page, chain: ReadonlyArray<Entry>) =>
  page.route("**/api/witness/chain?*", async (route) => {
    const response = await route.fetch()
    const query = new URL(route.request().url()).searchParams
    const [from, limit] = [Number(query.get("from")), Number(query.get("limit"))]
    const entries = chain.slice(from - 1, from - 1 + limit)
    const json: Segment = {
      ok: true,
      anchor: pointOf(chain[from - 2]),
      entries,
      head: pointOf(chain.at(-1)),
      next: from - 1 + limit < chain.length ? from + limit : null,
    }
    await route.fulfill({ response, json })
  })

const said = (page: Page) => page.locator(".verify [role=status]")
const lines = (page: Page) => page.locator(".verify .checks")
const ended = (page: Page) =>
  said(page).locator(".verdict--holds, .verdict--broken, .verdict--unchecked").first().waitFor()
const check = (page: Page) =>
  page
    .getByRole("button", { name: /^Check (?:everything|stone \d)/u })
    .first()
    .click()

/** At least so many stones, as the server tells them. */
const stones = Effect.fnUntraced(function* (atLeast: number) {
  const { url } = yield* TestServer
  const read = Effect.map(ask(`${url}/api/witness/chain?from=1&limit=100`), ({ text }): Segment => JSON.parse(text))
  const { entries } = yield* read
  for (let set = entries.length; set < atLeast; set++) {
    yield* buy("/api/witness", { commitment: newCommitment() })
  }
  return (yield* read).entries
})

/** The chain's answers with some members changed. */
const answers = (page: Page, change: Change) =>
  page.route("**/api/witness/chain?*", async (route) => {
    const response = await route.fetch()
    const segment: Segment = await response.json()
    await route.fulfill({ response, json: { ...segment, ...change(segment) } })
  })

/** Three stones in the log, of which the newest is revealed. */
const logged = Effect.gen(function* () {
  yield* stones(2)
  const text = "The heron will return by May."
  const { id } = yield* loggedStone({ commitment: seal(salt, text) })
  yield* reveal(id, text)
  return yield* stones(3)
})

guideOf({ log: signing })("the check of everything", (it) => {
  it("says in its first line what holds, what does not, and what was not checked", async ({ run, visit }) => {
    const honest = await run(logged)
    const { page } = await visit("/v2/witness", { bypassCSP: true })
    const first = () => said(page).locator(".verdict").first()
    const reads = (words: RegExp) =>
      Promise.all([check(page), first().filter({ hasText: words }).waitFor()]).then(() => undefined)
    await reads(/^✓\s*The chain is whole\.$/u)
    for (const line of [
      "Links: right. 3 links.",
      "Log: right. It signed a checkpoint over 3 stones, whose root is that of these links.",
      "Words: right. 1 revealed text on this page.",
    ])
      await lines(page).getByText(line).waitFor()
    await page.getByText("Payments are on another chain").waitFor()
    await isAccessible(page, "all that was checked holds")

    await page.route("**/log/checkpoint", (route) => route.abort())
    await reads(/Right: links, words\. Not checked: log\./u)
    await lines(page).getByText("Log: not checked.").waitFor()
    await page.unroute("**/log/checkpoint")

    await serve(
      page,
      forge(honest, ({ sequence }) => (sequence === 2 ? { commitment: "a".repeat(64) } : {})),
    )
    await reads(/The chain is broken\./u)
    await lines(page).getByText("Stone 2: wrong. This page shows").waitFor()
  })
})

const changed: ReadonlyArray<readonly [words: RegExp, change: Change]> = [
  [
    /^✗\s*The chain is broken\./u,
    ({ entries }) => ({
      entries: entries.map((entry) => (entry.sequence === 2 ? { ...entry, commitment: "a".repeat(64) } : entry)),
    }),
  ],
  [/^✗/u, ({ entries }) => ({ entries: entries.filter(({ sequence }) => sequence !== 2) })],
  [/^✗/u, ({ head }) => ({ head: { ...head, chainHash: "e".repeat(64) } })],
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
      if (words.source.includes("is broken")) {
        assert.strictEqual(await stranger.locator('[data-link="2"] [data-verdict]').innerText(), "✗ broken")
        assert.strictEqual(await stranger.locator('[data-link="1"] [data-verdict]').innerText(), "✓ checked")
        assert.match(await stranger.locator(".checks > li").first().innerText(), /^✗\s*Stone [23]: wrong\./u)
      }
      await stranger.close()
    }
    await page.route("**/api/witness/chain?*", (route) => route.abort())
    await check(page)
    await said(page).getByText("The altar does not answer").waitFor()
  })

  it("with forged and consistent hashes turns the page red, which names the stone", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const [first, second] = honest
    const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "a".repeat(64) } : {}))
    const { page, url } = await visit("/v2/witness", { bypassCSP: true })
    await serve(page, forged)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗\s*The chain is broken/u)
    assert.strictEqual(await page.locator('li[data-link="1"] [data-verdict]').innerText(), "✗ broken")
    assert.match(await page.locator(".checks > li").first().innerText(), /Stone 1: wrong\.\s+This page shows/u)
    assert.strictEqual(await page.locator(".verify [role=status] .verdict--holds").count(), 0)
    await isAccessible(page, "a forged chain")
    await page.goto(`${url}/witness/${first?.id}`)
    await check(page)
    await ended(page)
    assert.match(await said(page).innerText(), /^✗/u)
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

  it("that was rewritten with its page is found by the checkpoint that this browser knows", async ({ visit, run }) => {
    const honest = await run(stones(3))
    const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "c".repeat(64) } : {}))
    const { page } = await visit("/v2/witness")
    await check(page)
    await lines(page).getByText("Links: right.").waitFor()
    await serve(page, forged)
    // The page is rewritten too: nothing on it contradicts the chain.
    await page.route("**/v2/witness", async (route) => {
      const response = await route.fetch()
      let body = await response.text()
      for (const [index, entry] of honest.entries())
        body = body.replaceAll(entry.chainHash, forged[index]?.chainHash ?? "")
      await route.fulfill({ response, body })
    })
    await page.reload()
    await check(page)
    await ended(page)
    await page.locator(".checks > li", { hasText: "UTC this browser saw" }).waitFor()
    // A visitor who knows the reason may start again.
    await page.getByRole("button", { name: "Forget what this browser saw" }).click()
    await lines(page).getByText("Links: right.").waitFor()
  })

  it("that grows stays green, and one that lost stones does not", async ({ visit, run }) => {
    const before = await run(stones(3))
    const { page, url } = await visit("/v2/witness")
    await check(page)
    await lines(page).getByText("This browser remembers the last one and compares next time.").waitFor()
    await run(stones(6))
    await page.reload()
    await check(page)
    await lines(page).getByText("6 links.").waitFor()
    assert.match(await lines(page).innerText(), /They continue what this browser saw before, up to stone 3\./u)
    await page.goto(`${url}/witness/${before[1]?.id}`)
    await check(page)
    await said(page).getByText("Stone 2 is as recorded.").waitFor()
    await lines(page).getByText(`SHA-256 computed here: ${before[1]?.chainHash}`).waitFor()
    await serve(page, before)
    await check(page)
    await page.locator(".checks > li", { hasText: "Stones are missing." }).waitFor()
  })

  it("that the altar itself reports as broken is named with its stone, and no payment", async ({ visit, run }) => {
    await run(stones(3))
    const sql = await run(SqlClient.SqlClient)
    const { page, url } = await visit("/v2/witness")
    await run(sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = 2`)
    await check(page)
    await page.getByText("The chain is broken.").waitFor()
    const words = await said(page).innerText()
    assert.include(words, "The chain is broken at stone 2: witness stone 2 does not hash to its chainHash.")
    assert.notMatch(words, /If you sent a payment|The server failed/u)
    const verified = await run(commandRun(["verify", "--url", url]))
    assert.strictEqual(verified.code, 1, verified.stderr)
    assert.include(verified.stderr, "as the altar itself says: The chain is broken at stone 2: ")
  })
})
