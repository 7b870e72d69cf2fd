/** All acts for people: filters that a link keeps, and a page for each wallet. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertEach } from "../lab/Assertions.ts"
import { ask, newCommitment, newPayer, read, realClock, TestServer, world } from "../lab/Fixture.ts"

const idsIn = (text: string) =>
  [...text.matchAll(/href="\/(?:acts|witness)\/([0-9a-f-]{36})"/gu)].map(([, id = ""]) => id)

layer(world(), realClock)("the page of all acts", (it) => {
  it.effect("filters by kind, spirit and wallet, alone and together, and keeps the choice in its form", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    const body = { intentionCommitment: newCommitment(), agentName: "Wren" }
    const { record: prayer } = yield* buy("/api/prayers/moss-hare", body, { payer })
    const { record: candle } = yield* buy("/api/candles/day/moss-hare", { dedication: "One" }, { payer })
    const { record: stone } = yield* buy("/api/witness", { commitment: newCommitment(), spirit: "kelp-seal" })
    const page = (query: string) => Effect.map(ask(`${url}/v2/acts${query}`), ({ text }) => text)
    const choices: ReadonlyArray<readonly [query: string, ids: ReadonlyArray<string>]> = [
      ["", [stone.id, candle.id, prayer.id]],
      ["?kind=candle", [candle.id]],
      ["?spirit=moss-hare", [candle.id, prayer.id]],
      ["?kind=stone&spirit=moss-hare", []],
      ["?kind=nothing&spirit=unicorn&before=x", [stone.id, candle.id, prayer.id]],
    ]
    for (const [query, ids] of choices) assert.deepStrictEqual([...new Set(idsIn(yield* page(query)))], ids, query)
    const chosen = yield* page("?kind=candle&spirit=moss-hare")
    assert.match(chosen, /<option value="candle"\s+selected>/u)
    assert.match(chosen, /<option value="moss-hare"\s+selected>/u)
    const { text } = yield* ask(`${url}/v2/acts?q=${payer.address}&kind=prayer&spirit=moss-hare`)
    assert.deepStrictEqual([...new Set(idsIn(text))], [prayer.id])
  })

  it.effect("shows the acts of a wallet in any spelling of its address", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    const { record } = yield* buy("/api/candles/day/kelp-seal", { dedication: "Two" }, { payer })
    for (const address of [payer.address, payer.address.toLowerCase()]) {
      const { text } = yield* ask(`${url}/v2/acts?q=${address}`)
      assert.deepStrictEqual([...new Set(idsIn(text))], [record.id])
      assert.include(text, `rel="canonical" href="${url}/v2/acts?q=${payer.address.toLowerCase()}"`)
    }
    const other = yield* ask(`${url}/v2/acts?q=${payer.address}&kind=prayer`)
    assert.include(other.text, "No such acts yet.")
  })

  it.effect("links older acts, fifty a page, by the same choice; lists have default and longest lengths", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    const wallet = payer.address.toLowerCase()
    const buyStone = Effect.suspend(() =>
      buy("/api/witness", { commitment: newCommitment(), spirit: "dew-spider" }, { payer }),
    )
    const { record: oldest } = yield* buyStone
    yield* Effect.forEach(Array.from({ length: 50 }), () => buyStone, { concurrency: 5 })
    const collect = buy("/api/elements/beeswax/collect", {}, { payer })
    yield* Effect.forEach(Array.from({ length: 24 }), () => collect, { concurrency: 5 })
    const newest = yield* collect
    const { text } = yield* ask(`${url}/v2/acts?q=${wallet}&kind=stone`)
    assert.strictEqual(new Set(idsIn(text)).size, 50)
    const [, next = ""] = /rel="next" href="([^"]+)"/u.exec(text) ?? []
    assert.match(next, /^\/v2\/acts\?q=0x[0-9a-f]{40}&amp;kind=stone&amp;before=/u)
    const rest = yield* ask(`${url}${next.replaceAll("&amp;", "&")}`)
    assert.deepStrictEqual([...new Set(idsIn(rest.text))], [oldest.id])
    assert.notInclude(rest.text, 'rel="next"')
    const lists =
      "acts witness witness/chain publish-chain acts?limit=50 witness?limit=50 witness/chain?limit=51 publish-chain?limit=51"
    const sizes = yield* Effect.forEach(lists.split(" "), (path) =>
      Effect.map(read(`/api/${path}`), ({ acts, stones = acts, entries = stones }) => entries.length),
    )
    assert.deepStrictEqual(sizes, [20, 20, 50, 50, 50, 50, 51, 51])
    // A low number that a failed payment released is sold last.
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE collectibles SET collected_at = now() WHERE edition = 1`
    const { recent } = yield* read("/api/elements")
    assert.deepStrictEqual([recent.length, recent[0].edition, recent[1].id], [12, 1, newest.record.id])
    const { stones } = yield* read("/api/witness?limit=6")
    const altar = yield* ask(`${url}/v2/spirits/dew-spider`)
    assertEach(stones, ({ id }: { id: string }) => id, [...new Set(idsIn(altar.text))], "the newest stones of an altar")
    for (const path of ["acts?limit=51", "witness?limit=51", "candles?limit=51", "acts?limit=0", "candles?spirit=x"])
      assert.strictEqual((yield* ask(`${url}/api/${path}`)).status, 400, path)
  })
})
