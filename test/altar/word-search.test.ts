/** The search finds words of public texts, and tells nothing about hidden ones. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { ask, bought, layer as world, post, TestServer } from "../lab/Fixture.ts"
import { suite } from "../lab/Suites.ts"

const salt = "5c1fd1e6a0bb4e7f9c2d"

const buy = (path: string, body: object) => Effect.map(bought(path, body), ({ record }) => String(record.id))

const search = Effect.fnUntraced(function* (words: string) {
  const { url } = yield* TestServer
  const { status, text } = yield* ask(`${url}/v2/search?q=${encodeURIComponent(words)}`, { redirect: "manual" })
  const [, found = ""] = text.split('class="found"')
  const [hits = ""] = found.split("</search>")
  return { status, hits: hits.replace(/<code class="asked">[^]*?<\/code>/u, "") }
})

const reveal = Effect.fnUntraced(function* (path: string, body: object) {
  const { url } = yield* TestServer
  const { status, text } = yield* ask(`${url}${path}`, post(body))
  assert.strictEqual(status, 201, text)
})

const finds = Effect.fnUntraced(function* (words: string, id: string) {
  const { hits } = yield* search(words)
  assert.include(hits, id, words)
  assert.include(hits, "<mark>", words)
})

const findsNothing = Effect.fnUntraced(function* (words: string) {
  const { hits, status } = yield* search(words)
  assert.strictEqual(status, 200, words)
  assert.include(hits, "Nothing found", words)
  assert.include(hits, "All public texts were searched for these words.", words)
})

suite("the search for words", Layer.provideMerge(Moderation.layer, world()), (it) => {
  it("finds the words of every public text, and sealed words once they are revealed", function* () {
    const stone = yield* buy("/api/witness", { commitment: seal(salt, "Otters sleep downstream") })
    const candle = yield* buy("/api/candles/day/moss-hare", {
      dedication: "For the quiet Bees of <b>Bade</b>",
      intentionCommitment: seal(salt, "Lanterns over marshland"),
    })
    const keeper = yield* buy("/api/acquire/moss-hare", { reason: "It followed thunder home" })
    const item = yield* buy("/api/elements/beeswax/collect", { reason: "Because pebbles glitter" })
    yield* finds("bees", candle)
    yield* finds("BEES quiet", candle)
    yield* finds("thunder", keeper)
    yield* finds("glitter", item)
    for (const words of ["otters", "lanterns"]) yield* findsNothing(words)
    yield* reveal(`/api/witness/${stone}/reveal`, { salt, text: "Otters sleep downstream" })
    yield* reveal(`/api/candles/${candle}/unseal`, { salt, words: "Lanterns over marshland" })
    yield* finds("otters", stone)
    yield* finds("lanterns", candle)
  })

  it("finds a phrase in its order, and leaves out a word after a minus", function* () {
    const id = yield* buy("/api/candles/day/rain-crow", { dedication: "Rivers carry amber leaves" })
    yield* finds('"carry amber"', id)
    yield* finds("rivers leaves", id)
    yield* findsNothing('"amber carry"')
    yield* findsNothing("rivers -amber")
    yield* findsNothing("-rivers")
  })

  it("tells nothing about hidden texts, and finds them again once they are shown", function* ({ sql }) {
    const moderation = yield* Moderation
    const stone = yield* buy("/api/witness", { commitment: seal(salt, "Secretive walruses") })
    yield* reveal(`/api/witness/${stone}/reveal`, { salt, text: "Secretive walruses" })
    const candle = yield* buy("/api/candles/day/rain-crow", {
      dedication: "Unwelcome gossip",
      intentionCommitment: seal(salt, "Murmuring gnomes"),
    })
    yield* reveal(`/api/candles/${candle}/unseal`, { salt, words: "Murmuring gnomes" })
    const keeper = yield* buy("/api/acquire/rain-crow", { reason: "Slander in feathers" })
    for (const [id, field, words] of [
      [stone, "words", "walruses"],
      [candle, "dedication", "gossip"],
      [candle, "words", "gnomes"],
      [keeper, "reason", "slander"],
    ] as const) {
      yield* finds(words, id)
      yield* sql.withTransaction(moderation.hide(id, field))
      yield* findsNothing(words)
      yield* findsNothing(`"${hiddenByOperator}"`)
      yield* sql.withTransaction(moderation.show(id, field))
      yield* finds(words, id)
    }
  })

  it("keeps words hidden whose salt has a link", function* () {
    const linked = "see spam.example.com for more"
    const stone = yield* buy("/api/witness", { commitment: seal(linked, "Advertised bargains") })
    yield* reveal(`/api/witness/${stone}/reveal`, { salt: linked, text: "Advertised bargains" })
    yield* findsNothing("bargains")
  })

  it("answers every input", function* () {
    for (const words of [
      "'; DROP TABLE acts; --",
      '"',
      '"unclosed phrase',
      "a & | ! <-> :* ()",
      "or OR and -",
      "- -- ---",
      "…!?.,;",
      "nul\0within",
      "\\",
      "%_%",
      "x".repeat(300),
      "🦦".repeat(300),
      `${"x".repeat(299)}🦦`,
    ])
      assert.strictEqual((yield* search(words)).status, 200, words)
  })

  it("has a database index for every text", function* ({ sql }) {
    const plans = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SET LOCAL enable_seqscan = off`
        return yield* Effect.forEach(
          [
            sql`EXPLAIN SELECT * FROM candles WHERE to_tsvector('simple', dedication) @@ 'a'::tsquery`,
            sql`EXPLAIN SELECT * FROM candle_unseals WHERE to_tsvector('simple', words) @@ 'a'::tsquery`,
            sql`EXPLAIN SELECT * FROM keepers WHERE to_tsvector('simple', reason) @@ 'a'::tsquery`,
            sql`EXPLAIN SELECT * FROM collectibles WHERE to_tsvector('simple', reason) @@ 'a'::tsquery`,
            sql`EXPLAIN SELECT * FROM witness_reveals WHERE to_tsvector('simple', text) @@ 'a'::tsquery`,
          ],
          (plan) => Effect.map(plan, (rows) => JSON.stringify(rows)),
        )
      }),
    )
    for (const [index, name] of [
      "candles_dedication_words",
      "candle_unseals_words",
      "keepers_reason_words",
      "collectibles_reason_words",
      "witness_reveals_words",
    ].entries())
      assert.include(plans[index], name)
  })
})
