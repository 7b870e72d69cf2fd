/** Revealed words as their readers meet them: shown with their salt, hashed by everyone, and never shown when they were changed. */
import { buyForId } from "../lab/buyer/Purchase.ts"
import { reveal, salt, unseal } from "../lab/buyer/Sealed.ts"
import { assert, layer } from "../lab/It.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { vi } from "vitest"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { call, connect } from "../lab/McpClient.ts"
import { type Answer, ask, becomes, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { verify } from "../lab/VerifiedAltar.ts"
import { assertAnswer } from "../lab/Assertions.ts"

const read = Effect.fnUntraced(function* (path: string) {
  const { url } = yield* TestServer
  const got = yield* ask(`${url}${path}`)
  assert.strictEqual(got.status, 200, `${path}: ${got.text}`)
  return got.text
})

/** A stone, a candle and a light, each opened; with the words of each. */
const opened = Effect.fnUntraced(function* (words: { stone: string; candle: string; light: string }, with_ = salt) {
  const stone = yield* buyForId("/api/witness", { commitment: seal(with_, words.stone), spirit: "moss-hare" })
  const lit = (body: object, text: string) =>
    buyForId("/api/candles/day/moss-hare", { ...body, intentionCommitment: seal(with_, text) })
  const candle = yield* lit({ dedication: "For the bees" }, words.candle)
  const light = yield* lit({ parentId: candle }, words.light)
  const answers = {
    stone: (yield* reveal(stone, words.stone, { salt: with_ })).text,
    candle: (yield* unseal(candle, words.candle, { salt: with_ })).text,
    light: (yield* unseal(light, words.light, { salt: with_ })).text,
  }
  return { stone, candle, light, answers }
})

/** Everything that shows the words of these three. */
const placesOf = ({ candle, light, stone }: { stone: string; candle: string; light: string }) => ({
  stone: [
    "/api/witness",
    `/api/witness/${stone}`,
    `/api/acts/${stone}`,
    "/api/acts",
    `/witness/${stone}`,
    "/v2/witness",
  ],
  candle: ["/api/candles", "/api/altars", `/api/acts/${candle}`, "/api/acts", `/acts/${candle}`, "/v2/candles"],
  light: [`/api/acts/${light}`, "/api/acts", `/acts/${light}`],
})

const assertBroken = (refused: Answer, path: string, what: string) => {
  assert.strictEqual(refused.status, 500, what)
  assert.notInclude(refused.text, "It will shine.", path)
  if (path.startsWith("/api/")) assert.strictEqual(refused.json["code"], "reveal_broken", path)
  if (/^\/(?:v2|witness|acts)\//u.test(path) && !path.endsWith(".atom"))
    assert.include(refused.text, "These are not the words that were sealed", path)
}

const moderated = Layer.mergeAll(NodeServices.layer, Layer.provideMerge(Moderation.layer, world()))

layer(moderated, realClock)("revealed words", (it) => {
  it.effect("are shown with their salt everywhere, and hash to the commitment", function* () {
    const { url } = yield* TestServer
    const words = { stone: "The heron will return.", candle: "May the meadow stay.", light: "And the bees." }
    const set = yield* opened(words)
    const stone = JSON.parse(yield* read(`/api/witness/${set.stone}`)).stone
    assert.deepInclude(stone.reveal, { text: words.stone, salt, hidden: false })
    assert.strictEqual(seal(stone.reveal.salt, stone.reveal.text), stone.commitment)
    assert.deepStrictEqual(JSON.parse(set.answers.stone).stone.reveal, stone.reveal)
    for (const name of ["candle", "light"] as const) {
      const { candle } = JSON.parse(set.answers[name])
      assert.deepInclude(candle.unsealed, { words: words[name], salt, hidden: false }, name)
      assert.strictEqual(seal(candle.unsealed.salt, candle.unsealed.words), candle.intentionCommitment)
      const { act } = JSON.parse(yield* read(`/api/acts/${set[name]}`))
      assert.deepInclude(act.reveal, { text: words[name], salt, hidden: false }, name)
    }
    for (const [name, paths] of Object.entries(placesOf(set)))
      for (const path of paths) assert.include(yield* read(path), salt, `${name} at ${path}`)
    const page = yield* read(`/witness/${set.stone}`)
    for (const shown of [/<title>([^<]*)/u, /"og:title" content="([^"]*)/u])
      assert.include(shown.exec(page)?.[1], words.stone, "titled and shared by its words")
    const tools = yield* connect(`${url}/mcp`)
    assert.include((yield* call(tools, "altar", { spirit: "moss-hare" })).text, `"salt":"${salt}"`)
    const verified = JSON.parse((yield* call(tools, "verify_witness", { witnessId: set.stone })).text)
    assert.deepInclude(verified, { verified: true, reveal: { recomputed: stone.commitment, holds: true } })
    assert.strictEqual(verified.stone.reveal.salt, salt)
    // An act without sealed words, and words that stay sealed, show none.
    const sealed = yield* buyForId("/api/witness", { commitment: seal(salt, "Not yet.") })
    assert.isNull(JSON.parse(yield* read(`/api/acts/${sealed}`)).act.reveal)
    assert.isNull(JSON.parse(yield* read(`/api/witness/${sealed}`)).stone.reveal)
    assert.strictEqual((yield* verify(url)).fault, "none")
  })

  it.effect("keep their salt private while a pattern or an operator hides them", function* () {
    const sql = yield* SqlClient.SqlClient
    const moderation = yield* Moderation
    const secret = "0f4e2d8c6b1a49d7"
    const links = {
      stone: "see https://altar.example",
      candle: "ask bees@altar.example",
      light: "go to example.com",
    }
    const linked = yield* opened(links, secret)
    const plain = { stone: "Call my sister.", candle: "Sleep more.", light: "Drink water." }
    const hidden = yield* opened(plain, secret)
    const shown = yield* read(`/api/witness/${hidden.stone}`)
    assert.include(shown, secret)
    for (const id of [hidden.stone, hidden.candle, hidden.light])
      yield* sql.withTransaction(moderation.hide(id, "words"))
    for (const set of [linked, hidden]) {
      for (const path of new Set(Object.values(placesOf(set)).flat())) {
        const text = yield* read(path)
        assert.notInclude(text, secret, path)
      }
      const { stone } = JSON.parse(yield* read(`/api/witness/${set.stone}`))
      assert.deepInclude(stone.reveal, { text: null, salt: null, hidden: true })
      for (const id of [set.candle, set.light]) {
        const { act } = JSON.parse(yield* read(`/api/acts/${id}`))
        assert.deepInclude(act.reveal, { text: null, salt: null, hidden: true })
      }
    }
    for (const text of Object.values(linked.answers)) assert.notInclude(text, secret)
    yield* sql.withTransaction(moderation.show(hidden.stone, "words"))
    assert.strictEqual(yield* read(`/api/witness/${hidden.stone}`), shown)
  })

  it.effect("are hidden when their salt is a link, and shown when it is random hexadecimal", function* () {
    const words = { stone: "Look at my salt.", candle: "And at mine.", light: "And here." }
    const advert = yield* opened(words, "buy at https://altar.example")
    for (const path of new Set(Object.values(placesOf(advert)).flat()))
      assert.notInclude(yield* read(path), "buy at", path)
    for (const random of ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "29b8031e3cb62c74178f9fe359d632fe"]) {
      const id = yield* buyForId("/api/witness", { commitment: seal(random, "Well salted.") })
      const revealed = yield* reveal(id, "Well salted.", { salt: random })
      assert.deepInclude(JSON.parse(revealed.text).stone.reveal, { text: "Well salted.", salt: random })
    }
  })

  it.effect("that were changed in the database are served nowhere, and fail the health", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const words = { stone: "It will rain.", candle: "It will snow.", light: "It will hail." }
    const set = yield* opened(words)
    const places = placesOf(set)
    const tools = yield* connect(`${url}/mcp`)
    const changes = [
      ["stone", sql`UPDATE reveals SET text = 'It will shine.' WHERE id = ${set.stone}::uuid`],
      ["candle", sql`UPDATE reveals SET text = 'It will shine.' WHERE id = ${set.candle}::uuid`],
      ["light", sql`UPDATE reveals SET salt = ${"0".repeat(20)} WHERE id = ${set.light}::uuid`],
    ] as const
    const mend = Effect.all([
      sql`UPDATE reveals SET text = ${words.stone} WHERE id = ${set.stone}::uuid`,
      sql`UPDATE reveals SET text = ${words.candle} WHERE id = ${set.candle}::uuid`,
      sql`UPDATE reveals SET salt = ${salt} WHERE id = ${set.light}::uuid`,
    ])
    // Pages and answers that are kept were made before: they are not to be shown any more.
    for (const path of Object.values(places).flat()) yield* read(path)
    for (const [name, change] of changes) {
      yield* becomes(`${url}/api/health`, 200, { reveals: "ok" })
      yield* change
      const log = vi.spyOn(console, "log")
      for (const path of places[name])
        for (const time of ["first", "again"])
          assertBroken(yield* ask(`${url}${path}`), path, `${name} at ${path}, ${time}`)
      // One alarm, however often they are asked for.
      const alarms = log.mock.calls.filter((line) => line.join(" ").includes("reveal broken"))
      log.mockRestore()
      assert.lengthOf(alarms, 1, name)
      yield* becomes(`${url}/api/health`, 503, { reveals: "failing", ok: false })
      const { fault } = yield* verify(url)
      assert.match(fault, /^CheckFailed: BROKEN at .*: The words revealed under .* do not hash/u)
      yield* mend
      yield* becomes(`${url}/api/health`, 200)
      for (const path of places[name]) yield* read(path)
    }
    yield* changes[0][1]
    const witnessed = yield* call(tools, "verify_witness", { witnessId: set.stone })
    assert.deepInclude(JSON.parse(witnessed.text), { ok: false, code: "reveal_broken" })
    const replayed = yield* ask(`${url}/api/witness/${set.stone}/reveal`, post({ salt, text: words.stone }))
    assertAnswer(replayed, 500, "reveal_broken")
    yield* mend
    yield* changes[1][1]
    const altar = yield* call(tools, "altar")
    assert.deepInclude(JSON.parse(altar.text), { ok: false, code: "reveal_broken" })
    const unsealed = yield* ask(`${url}/api/candles/${set.candle}/unseal`, post({ salt, words: words.candle }))
    assertAnswer(unsealed, 500, "reveal_broken")
    // Sales continue.
    yield* buyForId("/api/candles/day/moss-hare", { parentId: set.candle })
    yield* mend
  })

  it.effect("are hashed even while they are hidden", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { stone } = yield* opened({ stone: "see example.com", candle: "A wren.", light: "A finch." })
    yield* sql`UPDATE reveals SET text = 'see example.org' WHERE id = ${stone}::uuid`
    assert.strictEqual((yield* ask(`${url}/api/witness/${stone}`)).json["code"], "reveal_broken")
    yield* sql`UPDATE reveals SET text = 'see example.com' WHERE id = ${stone}::uuid`
  })
})
