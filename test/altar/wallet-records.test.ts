/** The record of a wallet: its stones, opened or not, counted and listed in one moment. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { buy } from "../lab/buyer/Purchase.ts"
import { reveal, salt } from "../lab/buyer/Sealed.ts"
import { ask, newCommitment, newPayer, read, realClock, TestServer, world } from "../lab/Fixture.ts"

type Payer = Effect.Success<ReturnType<typeof newPayer>>

const buyStone = (payer: Payer, body: object = { commitment: newCommitment() }) =>
  Effect.map(buy("/api/witness", body, { payer }), ({ record }) => record)

const open = Effect.fnUntraced(function* (payer: Payer, words: string, key = salt) {
  const { id } = yield* buyStone(payer, { commitment: seal(key, words), kind: "prediction" })
  yield* reveal(id, words, { salt: key })
  return String(id)
})

const countsOf = ({ closed, hidden, opened, sealed }: Awaited<Effect.Success<ReturnType<typeof read>>>) => ({
  sealed,
  opened,
  closed,
  hidden,
})

/** The same counts, from the listed stones. */
const countedIn = (stones: ReadonlyArray<{ readonly reveal: { readonly text: string | null } | null }>) => ({
  sealed: stones.length,
  opened: stones.filter(({ reveal }) => typeof reveal?.text === "string").length,
  closed: stones.filter(({ reveal }) => reveal === null).length,
  hidden: stones.filter(({ reveal }) => reveal !== null && reveal.text === null).length,
})

layer(Layer.provideMerge(Moderation.layer, world()), realClock)("the record of a wallet", (it) => {
  it.effect("counts and lists its stones and no others, page by page, under any spelling of its address", function* () {
    const payer = yield* newPayer()
    yield* buy("/api/witness")
    const first = yield* buyStone(payer)
    yield* open(payer, "It will rain.")
    yield* open(payer, "See example.com")
    yield* open(payer, "It will snow.", "https://example.com/salt")
    const last = yield* buyStone(payer, { commitment: newCommitment(), kind: "hash" })
    yield* buy("/api/candles/day/kelp-seal", { dedication: "Two" }, { payer })
    const wallet = payer.address.toLowerCase()
    const record = yield* read(`/api/wallets/${payer.address}`)
    assert.deepStrictEqual(yield* read(`/api/wallets/${wallet}`), record)
    assert.deepInclude(record, { wallet, sealed: 5, opened: 1, closed: 2, hidden: 2, next: null })
    assert.deepStrictEqual(countsOf(record), countedIn(record.stones))
    assert.deepStrictEqual(record.kinds, { intention: 1, prediction: 3, promise: 0, hash: 1 })
    assert.deepStrictEqual(
      [record.first, record.last],
      [first, last].map(({ sequence, witnessedAt }) => ({ sequence, witnessedAt })),
    )
    const { head } = yield* read("/api/witness?limit=1")
    assert.deepStrictEqual(record.asOf.head, head)
    const pages = [yield* read(`/api/wallets/${wallet}?limit=3`)]
    pages.push(yield* read(`/api/wallets/${wallet}?limit=3&before=${pages[0]?.next}`))
    assert.deepStrictEqual(
      pages.flatMap(({ stones }) => stones),
      record.stones,
    )
    assert.deepStrictEqual(pages.map(countsOf), [countsOf(record), countsOf(record)])
    assert.isNull(pages[1]?.next)
  })

  it.effect("has one page, which pictures its stones in order, opened words, and what it cannot show", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    const { id: closed, sequence } = yield* buyStone(payer)
    yield* open(payer, "It <b>will</b> rain.")
    yield* open(payer, "See example.com")
    const path = `/v2/wallets/${payer.address.toLowerCase()}`
    const moved = yield* ask(`${url}/v2/wallets/${payer.address}`)
    assert.deepStrictEqual([moved.status, moved.headers.get("location")], [308, path])
    const { text } = yield* ask(`${url}${path}`)
    assert.include(text, "3 stones sealed: 1 opened, 1 still closed, 1 opened and not shown, as of stone")
    const [picture = ""] = /<ol class="timeline"[^]*?<\/ol>/u.exec(text) ?? []
    assert.deepStrictEqual(
      [...picture.matchAll(/fill="(none|currentColor)"\s*\/>/gu)].map(([, fill]) => fill),
      ["none", "currentColor", "none", "currentColor"],
      "hollow, filled, and hollow with a point",
    )
    assert.match(picture, new RegExp(`href="/witness/${closed}"[^]*Stone ${sequence}, intention, .*: closed<`, "u"))
    assert.include(text, "It &lt;b&gt;will&lt;/b&gt; rain.")
    assert.notInclude(text, "See example.com")
    assert.include(text, "can hold many wallets")
    assert.include(text, `spirit-altar verify --url ${url} --wallet ${payer.address.toLowerCase()} --rpc`)
    assert.include((yield* ask(`${url}/v2/acts?q=${payer.address}`)).text, `href="${path}"`)
    assert.include((yield* ask(`${url}/witness/${closed}`)).text, `href="${path}"`)
  })

  it.effect("is empty for a wallet without stones, and no other text is a wallet", function* () {
    const { url } = yield* TestServer
    const record = yield* read(`/api/wallets/0x${"A".repeat(40)}`)
    assert.deepInclude(record, { wallet: `0x${"a".repeat(40)}`, sealed: 0, first: null, last: null, stones: [] })
    for (const text of ["0x1", `0x${"g".repeat(40)}`, "a".repeat(42), "%00"])
      for (const path of ["/api/wallets/", "/v2/wallets/"])
        assert.strictEqual((yield* ask(`${url}${path}${text}`)).status, 404, path + text)
    const empty = yield* ask(`${url}/v2/wallets/0x${"a".repeat(40)}`)
    assert.include(empty.text, "This wallet has set no stone.")
    assertAnswer(yield* ask(`${url}/api/wallets/0x${"a".repeat(40)}?before=x`), 400, "bad_request")
  })

  it.effect("counts a reveal that the version before stored, beside this one during an upgrade", function* () {
    const sql = yield* SqlClient.SqlClient
    const payer = yield* newPayer()
    const id = yield* open(payer, "It will freeze.")
    yield* sql`UPDATE reveals SET payer = NULL WHERE id = ${id}::uuid`
    assert.deepInclude(yield* read(`/api/wallets/${payer.address}`), { sealed: 1, opened: 1, closed: 0, hidden: 0 })
  })

  it.effect("counts words as hidden while an operator hides them", function* () {
    const sql = yield* SqlClient.SqlClient
    const moderation = yield* Moderation
    const payer = yield* newPayer()
    const id = yield* open(payer, "Shown at first.")
    const path = `/api/wallets/${payer.address}`
    yield* sql.withTransaction(moderation.hide(id, "words"))
    const hidden = yield* read(path)
    assert.deepInclude(hidden, { sealed: 1, opened: 0, closed: 0, hidden: 1 })
    assert.isNull(hidden.stones[0].reveal.text)
    yield* sql.withTransaction(moderation.show(id, "words"))
    assert.deepInclude(yield* read(path), { opened: 1, hidden: 0 })
  })

  it.effect("has counts, list and head of one moment, while stones are set and opened", function* () {
    const payer = yield* newPayer()
    const reads = Effect.map(read(`/api/wallets/${payer.address}?limit=50`), (record) => {
      assert.deepStrictEqual(countsOf(record), countedIn(record.stones))
      assert.strictEqual(record.stones[0]?.sequence, record.last?.sequence)
      assert.isAtLeast(record.asOf.head.sequence, record.last?.sequence ?? 0)
      return record.sealed
    })
    const writes = Effect.forEach(Array.from({ length: 16 }), (_, at) => open(payer, `Words ${at}`), {
      concurrency: 4,
    })
    const writing = yield* Effect.forkChild(writes)
    const seen = new Set<number>()
    while (writing.pollUnsafe() === undefined) seen.add(yield* reads)
    assert.isAbove(seen.size, 2)
    assert.strictEqual(yield* reads, 16)
  })
})
