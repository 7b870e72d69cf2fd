/** Search takes exactly what the site prints, and tells nothing about hidden texts. */
import { buy, buyForId } from "../lab/buyer/Purchase.ts"
import { reveal, salt, unseal } from "../lab/buyer/Sealed.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { searchMaximum } from "../../src/altar/Acts.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { anotherServer, ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"

const newStone = Effect.fnUntraced(function* (agentName: string) {
  return (yield* buy("/api/witness", { commitment: newCommitment(), agentName })).record
})

/** `hits` is the list of what was found. */
const search = Effect.fnUntraced(function* (words: string, more = "") {
  const { url } = yield* TestServer
  const { headers, status, text } = yield* ask(`${url}/v2/acts?q=${encodeURIComponent(words)}${more}`)
  const [, hits = ""] = text.split('id="acts"')
  return { to: headers.get("location"), text, status, hits }
})

const finds = Effect.fnUntraced(function* (words: string, id: string) {
  assert.include((yield* search(words)).hits, id, words)
})

const findsNothing = Effect.fnUntraced(function* (words: string) {
  const { status, text } = yield* search(words)
  assert.strictEqual(status, 200, words)
  assert.include(text, "Nothing found", words)
})

layer(Layer.provideMerge(Moderation.layer, world()), realClock)("search", (it) => {
  it.effect("leads to the page of an id, a stone's number or hash, a spirit and a pasted link", function* () {
    const { url } = yield* TestServer
    const one = yield* newStone("Wren of the Mill")
    const page = `/witness/${one.id}`
    for (const [words, to] of [
      [`#${one.sequence}`, page],
      [`Witness stone ${one.sequence}`, page],
      [one.id.toUpperCase(), page],
      [`${url}${page}`, page],
      [` ${url}/api/acts/${one.id}?x=1 `, page],
      [one.commitment, page],
      [one.chainHash, page],
      ["MOSS HARE", "/v2/spirits/moss-hare"],
    ] as const)
      assert.deepInclude(yield* search(words), { status: 303, to }, words)
    const moved = yield* ask(`${url}/v2/search?q=%231`)
    assert.deepStrictEqual([moved.status, moved.headers.get("location")], [308, "/v2/acts?q=%231"])
  })

  it.effect("finds acts by transaction and by public name in any spelling, and filters them", function* () {
    const one = yield* newStone("Ada of Bade")
    yield* finds(one.transaction, one.id)
    yield* finds("ADA OF bade", one.id)
    assert.include((yield* search("ada of bade", "&kind=stone")).hits, one.id)
    assert.notInclude((yield* search("ada of bade", "&kind=candle")).hits, one.id)
    for (const words of ["Nobody At All", "999999", "f".repeat(64), "x".repeat(200)]) yield* findsNothing(words)
  })

  it.effect("finds the words of every public text, and sealed words once they are revealed", function* () {
    const stone = yield* buyForId("/api/witness", { commitment: seal(salt, "Otters sleep downstream") })
    const candle = yield* buyForId("/api/candles/day/moss-hare", {
      dedication: "For the quiet Bees of <b>Bade</b>",
      intentionCommitment: seal(salt, "Lanterns over marshland"),
    })
    const keeper = yield* buyForId("/api/acquire/moss-hare", { reason: "It followed thunder home" })
    const item = yield* buyForId("/api/elements/beeswax/collect", { reason: "Because 100% of pebbles glitter" })
    yield* finds("quiet bees", candle)
    yield* finds("thunder", keeper)
    yield* finds("100% of", item)
    for (const words of ["otters", "lanterns", "1__%"]) yield* findsNothing(words)
    yield* reveal(stone, "Otters sleep downstream")
    yield* unseal(candle, "Lanterns over marshland")
    yield* finds("otters sleep", stone)
    yield* finds("lanterns", candle)
  })

  it.effect("tells nothing about hidden texts, and finds them again once they are shown", function* () {
    const sql = yield* SqlClient.SqlClient
    const moderation = yield* Moderation
    const stone = yield* buyForId("/api/witness", { commitment: seal(salt, "Secretive walruses") })
    yield* reveal(stone, "Secretive walruses")
    const candle = yield* buyForId("/api/candles/day/rain-crow", {
      dedication: "Unwelcome gossip",
      intentionCommitment: seal(salt, "Murmuring gnomes"),
    })
    yield* unseal(candle, "Murmuring gnomes")
    const keeper = yield* buyForId("/api/acquire/rain-crow", { reason: "Slander in feathers" })
    for (const [id, field, words] of [
      [stone, "words", "walruses"],
      [candle, "dedication", "gossip"],
      [candle, "words", "gnomes"],
      [keeper, "reason", "slander"],
    ] as const) {
      yield* finds(words, id)
      yield* sql.withTransaction(moderation.hide(id, field))
      yield* findsNothing(words)
      yield* findsNothing(hiddenByOperator)
      yield* sql.withTransaction(moderation.show(id, field))
      yield* finds(words, id)
    }
    const linked = "see spam.example.com for more"
    const advert = yield* buyForId("/api/witness", { commitment: seal(linked, "Advertised bargains") })
    yield* reveal(advert, "Advertised bargains", { salt: linked })
    yield* findsNothing("bargains")
  })

  it.effect("reads the newest texts of each kind alone, whatever their number", function* () {
    const url = yield* anotherServer().pipe(Effect.provideService(searchMaximum, 1))
    const bounded = (words: string) =>
      Effect.map(ask(`${url}/v2/acts?q=${encodeURIComponent(words)}`), ({ text }) => text)
    const old = yield* buyForId("/api/acquire/kelp-seal", { reason: "Pelican weather" })
    assert.include(yield* bounded("pelican weather"), old)
    const newer = yield* buyForId("/api/acquire/dew-spider", { reason: "Heron weather" })
    assert.include(yield* bounded("heron weather"), newer)
    assert.include(yield* bounded("pelican weather"), "Nothing found")
    yield* finds("pelican weather", old)
  })

  it.effect("answers every input", function* () {
    for (const words of ["'; DROP TABLE acts; --", "nul\0within", "\\", "%_%", "\u{1f9a6}".repeat(300)])
      assert.strictEqual((yield* search(words)).status, 200, words)
  })
})
