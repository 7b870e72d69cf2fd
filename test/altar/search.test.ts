/** Search takes what the site prints and the words of public texts, and tells nothing about hidden ones. */
import { Effect, Layer } from "effect"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { ask, layer as world, newCommitment, post, TestServer, bought } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const salt = "5c1fd1e6a0bb4e7f9c2d"

const newStone = Effect.fnUntraced(function* (agentName: string) {
  return (yield* bought("/api/witness", { commitment: newCommitment(), agentName })).record
})

const buy = (path: string, body: object) => Effect.map(bought(path, body), ({ record }) => String(record.id))

/** `hits` is what was found, without what was asked. */
const search = Effect.fnUntraced(function* (words: string) {
  const { url } = yield* TestServer
  const answer = yield* ask(`${url}/v2/search?q=${encodeURIComponent(words)}`)
  const [, found = ""] = answer.text.split('class="found"')
  const [hits = ""] = found.split("</search>")
  return {
    to: answer.headers.get("location"),
    text: answer.text,
    status: answer.status,
    hits: hits.replace(/<code class="asked">[^]*?<\/code>/u, ""),
  }
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
})

suite("search", Layer.provideMerge(Moderation.layer, world()), (it) => {
  it("finds a stone by its number, by its hashes whole or abbreviated, and by a pasted link", function* ({ url }) {
    const one = yield* newStone("Wren of the Mill")
    const page = `/witness/${one.id}`
    const short = (hash: string) => `${hash.slice(0, 4)}…${hash.slice(-4)}`
    for (const words of [
      `#${one.sequence}`,
      `Witness stone ${one.sequence}`,
      `${one.commitment.slice(0, 8)} … ${one.commitment.slice(-8)}`,
      one.id.toUpperCase(),
      `${url}${page}`,
      ` ${url}/api/acts/${one.id}?x=1 `,
      short(one.commitment),
      short(one.chainHash),
      one.commitment.slice(0, 12),
      `${one.chainHash.slice(0, 8)}...${one.chainHash.slice(-6)}`,
    ])
      assert.deepInclude(yield* search(words), { status: 303, to: page }, words)
    const wrongEnd = yield* search(`${one.commitment.slice(0, 8)}…${one.commitment.at(-1) === "0" ? "1" : "0"}`)
    assert.strictEqual(wrongEnd.status, 200)
    assert.notInclude(wrongEnd.text.split('id="stones')[0] ?? "", `${page}">Witness stone`)
    const moved = yield* ask(`${url}/v2/witness?q=%231%20%3Cb%3E&before=2`)
    assert.deepStrictEqual([moved.status, moved.headers.get("location")], [308, "/v2/search?q=%231+%3Cb%3E"])
  })

  it("finds a wallet's purchases by its printed abbreviation", function* () {
    const one = yield* newStone("Ends of a wallet")
    const ends = `${one.payer.slice(0, 6)}…${one.payer.slice(-4)}`
    for (const words of [one.payer, one.payer.toUpperCase().replace("0X", "0x"), one.transaction])
      assert.include((yield* search(words)).text, `/witness/${one.id}`, words)
    for (const words of [ends, ends.toLowerCase().replace("…", " ... "), one.payer.slice(0, 12)])
      assert.include((yield* search(words)).text, `/witness/${one.id}">Ends of a wallet set witness stone`, words)
    const last = one.payer.slice(-1).toLowerCase()
    const { text } = yield* search(`${one.payer.slice(0, 20)}…${last === "0" ? "1" : "0"}`)
    assert.notInclude(text, "Ends of a wallet set")
  })

  it("finds a spirit and a public name in any spelling", function* () {
    const one = yield* newStone("Ada of Bade")
    for (const words of ["Moss Hare", "moss-hare", "MOSS HARE", "https://altar.example/v2/spirits/moss-hare#candles"])
      assert.deepInclude(yield* search(words), { status: 303, to: "/v2/spirits/moss-hare" }, words)
    assert.include((yield* search("ADA OF bade")).text, `/witness/${one.id}`)
    // Digits of an unknown hash may still be a name.
    const named = yield* newStone("decade")
    assert.include((yield* search("decade")).text, `/witness/${named.id}`)
    for (const words of ["Nobody At All", "999999", "f".repeat(64), "x".repeat(200)]) yield* findsNothing(words)
  })

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
    for (const words of ['"amber carry"', "rivers -amber", "-rivers"]) yield* findsNothing(words)
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
    const linked = "see spam.example.com for more"
    const advert = yield* buy("/api/witness", { commitment: seal(linked, "Advertised bargains") })
    yield* reveal(`/api/witness/${advert}/reveal`, { salt: linked, text: "Advertised bargains" })
    yield* findsNothing("bargains")
  })

  it("answers every input", function* () {
    for (const words of [
      "'; DROP TABLE acts; --",
      '"unclosed phrase',
      "a & | ! <-> :* ()",
      "or OR and -",
      "- -- ---",
      "…!?.,;",
      "nul\0within",
      "\\",
      "%_%",
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
            "candles.dedication",
            "candle_unseals.words",
            "keepers.reason",
            "collectibles.reason",
            "witness_reveals.text",
          ],
          (text) => {
            const [table = "", column = ""] = text.split(".")
            return sql`EXPLAIN SELECT * FROM ${sql(table)} WHERE to_tsvector('simple', ${sql(column)}) @@ 'a'::tsquery`
          },
        )
      }),
    )
    for (const plan of plans) assert.match(JSON.stringify(plan), /(?:Index|Bitmap Index) Scan.*_words/u)
  })
})
