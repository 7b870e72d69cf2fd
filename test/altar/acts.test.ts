/** One table of all acts: price, settlement, replay, second buyer and public row are the same for each. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { spirits } from "../../src/altar/Spirits.ts"
import { acts } from "../lab/ActTable.ts"
import { today } from "../lab/Clock.ts"
import { ask, newKey, newPayer, post, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { settlementIn } from "../lab/buyer/Purchase.ts"
import { assertAnswer } from "../lab/Assertions.ts"

const table = acts()
const nowhere = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

const init = (body: object | undefined, headers: Record<string, string>): RequestInit =>
  body === undefined ? { method: "POST", headers } : post(body, headers)

/** The parts of one answer that do not belong to the act (RFC 9110, the status line's own length, and the id of the request). */
const ofOneAnswer = new Set(["date", "content-length", "connection", "keep-alive", "x-request-id"])
const kept = (headers: Headers) => [...headers].filter(([name]) => !ofOneAnswer.has(name))

layer(world(), realClock)("among all acts,", (it) => {
  for (const act of table) {
    it.effect(`${act.name} settles, replays byte and header, and is a public row`, function* () {
      const { url } = yield* TestServer
      yield* today
      const { body, path } = act.request()
      const probe = yield* ask(url + path, { method: "POST" })
      assert.strictEqual(probe.status, 402)
      assert.strictEqual(challengeOf(probe).accepts[0].amount, act.price)

      const key = newKey()
      const asked = yield* ask(url + path, init(body, { "idempotency-key": key }))
      const { accepts, resource } = challengeOf(asked)
      assert.strictEqual(resource.url, url + path)
      const payer = yield* newPayer()
      const payment = encode(yield* sign(payer, accepts[0], resource))
      const headers = { "idempotency-key": key, "payment-signature": payment }
      const answer = yield* ask(url + path, init(body, headers))
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      const { permalink, receipt, record } = JSON.parse(answer.text)
      const { network, transaction } = receipt
      assert.deepInclude(settlementIn(answer), { success: true, network, transaction, payer: receipt.payer })
      assert.strictEqual(receipt.amountAtomic, act.price)
      for (const paidBy of [receipt.payer, record.keeper ?? record.payer ?? receipt.payer])
        assert.strictEqual(paidBy.toLowerCase(), payer.address.toLowerCase())
      const burns = (Date.parse(record.litUntil) - Date.parse(record.litAt)) / 86_400_000
      assert.strictEqual(burns || undefined, act.days)
      assert.strictEqual(receipt.explorerUrl, `https://explorer.example/${receipt.transaction}`)
      assert.isTrue(String(permalink).startsWith(url))

      for (const replay of [
        yield* ask(url + path, init(body, headers)),
        yield* ask(url + path, init(body, { "idempotency-key": key })),
        yield* ask(`${url}/api/reconcile/${key}`, { method: "POST" }),
      ]) {
        assert.strictEqual(replay.status, 200, replay.text)
        assert.strictEqual(replay.text, answer.text.replace(/"replayed":false\}$/u, '"replayed":true}'))
        const mark = ["idempotent-replayed", "true"]
        assert.sameDeepMembers(kept(replay.headers), [...kept(answer.headers), mark])
      }

      const row = (yield* read(`/api/acts/${record.id}`)).act
      const { finality, ...first } = row.receipt
      assert.include(["pending", "final"], finality)
      assert.deepStrictEqual([row.act, row.record, first], [act.name, record, receipt])
      assert.strictEqual((yield* read("/api/acts?limit=1")).acts[0].id, record.id)

      if (act.taken !== undefined) {
        const second = yield* ask(url + path, init(body, { "idempotency-key": newKey() }))
        assertAnswer(second, 409, act.taken)
        assert.match(String(second.json["message"]), /This request charged nothing\.$/u)
      }
    })
  }

  it.effect("a refusal of a paid request is never cached", function* () {
    const { url } = yield* TestServer
    for (const act of table) {
      const { body = {}, path } = act.request()
      const key = { "idempotency-key": newKey() }
      for (const refused of [
        { method: "POST" },
        post(body),
        post(body, { "idempotency-key": "short" }),
        post(body, key),
        post(body, { ...key, "payment-signature": "" }),
        post(body, { ...key, "payment-signature": "bm9uZQ==, bm9uZQ==" }),
        post({ unknown: 1 }, key),
        post("{", key),
      ]) {
        const answer = yield* ask(url + path, refused)
        assert.isAtLeast(answer.status, 400, answer.text)
        assert.strictEqual(answer.headers.get("cache-control"), "no-store", `${answer.status} ${answer.text}`)
      }
    }
    const nobody = yield* ask(`${url}/api/reconcile/${newKey()}`, { method: "POST" })
    assert.deepStrictEqual([nobody.status, nobody.headers.get("cache-control")], [404, "no-store"])
  })

  it.effect("a prayer is answered with one of its spirit's lines, the same for the same words", function* () {
    const body = { agentName: "Wren", intentionCommitment: `${"0".repeat(63)}1` }
    const { answer } = yield* buy("/api/prayers/brass-cicada", body)
    assert.strictEqual(JSON.parse(answer.text).line, spirits.at(-1)?.lines[1])
  })

  it.effect("an unreadable act is left out of every list, and its neighbours are shown", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { acts: before, next } = yield* read("/api/acts?limit=3")
    const { id } = before[1]
    const [row] = yield* sql`SELECT receipt FROM acts WHERE id = ${id}::uuid`
    yield* sql`UPDATE acts SET receipt = '{}' WHERE id = ${id}::uuid`
    assert.deepStrictEqual(yield* read("/api/acts?limit=3"), { ok: true, acts: [before[0], before[2]], next })
    const home = yield* ask(`${url}/v2/`, { headers: { accept: "text/html" } })
    assert.strictEqual(home.status, 200)
    assert.include(home.text, before[0].id)
    assert.notInclude(home.text, id)
    assert.strictEqual((yield* ask(`${url}/api/acts/${id}`)).status, 500)
    yield* sql`UPDATE acts SET receipt = ${row?.["receipt"]} WHERE id = ${id}::uuid`
  })

  it.effect("an act with a wrong day, name, item, query or body is refused with its code", function* () {
    const { url } = yield* TestServer
    const prayer = { agentName: "Wren", intentionCommitment: "ab".repeat(32) }
    const zero = "0".repeat(64)
    const expected: ReadonlyArray<readonly [string, object, number, string]> = [
      ["/api/prayers/moss-hare?day=2020-01-01", prayer, 409, "prayer_day_not_today"],
      ["/api/prayers/moss-hair", prayer, 404, "spirit_not_found"],
      ["/api/prayers/moss-hare", { ...prayer, familiarId: "static-fox" }, 400, "bad_request"],
      ["/api/prayers/moss-hare", { ...prayer, intentionCommitment: zero }, 422, "commitment_refused"],
      ["/api/acquire/nobody", {}, 404, "spirit_not_found"],
      ["/api/elements/unobtainium/collect", {}, 404, "element_not_found"],
      ["/api/elements/beeswax/collect?spirit=nobody", {}, 400, "bad_request"],
      ["/api/candles/day/moss-hare", {}, 400, "bad_request"],
      ["/api/candles/day/moss-hare", { dedication: "see my-site.example.com" }, 422, "dedication_held"],
      ["/api/candles/day/moss-hare", { dedication: "x", intentionCommitment: zero }, 422, "commitment_refused"],
      ["/api/candles/year/moss-hare", { dedication: "x" }, 404, "not_found"],
      ["/api/candles/day/moss-hare", { parentId: nowhere }, 409, "parent_not_lit"],
    ]
    for (const [path, body, status, code] of expected) {
      const answer = yield* ask(`${url}${path}`, post(body, { "idempotency-key": newKey() }))
      assertAnswer(answer, status, code, undefined, `${path} ${answer.text}`)
      // The payment that such a request may bring is not inquired about.
      assert.notMatch(answer.text, /nothing was charged/iu)
    }
  })

  it.effect("a light is accepted only on a lit candle of the same spirit, without a dedication", function* () {
    const { url } = yield* TestServer
    const lit = (yield* buy("/api/candles/week/lichen-yak", { dedication: "For the herd" })).record
    const parentId = lit.id
    const refused = (spirit: string, body: object, code: string) =>
      Effect.map(ask(`${url}/api/candles/day/${spirit}`, post(body, { "idempotency-key": newKey() })), ({ json }) =>
        assert.strictEqual(json["code"], code),
      )
    yield* refused("lichen-yak", { parentId, dedication: "x" }, "bad_request")
    yield* refused("moss-hare", { parentId }, "parent_not_lit")
    const light = (yield* buy("/api/candles/day/lichen-yak", { parentId, agentName: "Wren" })).record
    yield* refused("lichen-yak", { parentId: light.id }, "parent_not_lit")
    const find = (candles: ReadonlyArray<{ readonly id: string }>) => candles.find(({ id }) => id === parentId)
    const wall = yield* read("/api/candles?spirit=lichen-yak")
    const shown = Object(find(wall.candles))
    assert.deepStrictEqual([shown.lightCount, shown.lights[0].agentName], [1, "Wren"])
    assert.strictEqual(shown.litUntil, lit.litUntil, "a light does not prolong its candle")
    const { altars } = yield* read("/api/altars")
    const altar = altars.find(({ spirit }: { spirit: string }) => spirit === "lichen-yak")
    assert.deepStrictEqual(find(altar.candles), shown)
    assert.deepStrictEqual(wall.rails, ["x402"])
    const rungs = wall.rungs.map((rung: { amountAtomic: string; days: number }) => [rung.amountAtomic, rung.days])
    assert.deepStrictEqual(Object.fromEntries(rungs), { "1000000": 1, "3000000": 7, "9000000": 30 })
  })

  it.effect("an item without editions is sold out before any payment, in the catalog too", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const path = "/api/elements/pixel-root-fox/collect"
    yield* sql`INSERT INTO payment_pools (name, drawn, highest) VALUES ('edition:pixel-root-fox', 127, 127)`
    assert.strictEqual((yield* buy(path, {})).record.edition, 128)
    for (const key of [{}, { "idempotency-key": newKey() }]) {
      const answer = yield* ask(`${url}${path}`, post({}, key))
      assertAnswer(answer, 409, "sold_out")
      assert.match(answer.text, /This request charged nothing\./u)
    }
    const { pixels, recent } = yield* read("/api/pixels")
    assert.deepInclude(recent[0], { elementId: "pixel-root-fox", edition: 128, agentName: null })
    const fox = pixels.find(({ id }: { id: string }) => id === "pixel-root-fox")
    assert.deepInclude(fox, { editionSize: 128, issued: 1, reserved: 127, remaining: 0 })
  })

  it.effect("a candle unseals its words once", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const salt = "a salt of sixteen or more"
    const intentionCommitment = seal(salt, "Thank you.")
    const sealed = yield* buy("/api/candles/day/kelp-seal", { dedication: "Low water", intentionCommitment })
    const open = yield* buy("/api/candles/day/kelp-seal", { dedication: "High water" })
    const unseal = (candle: string, words: string) => ask(`${url}/api/candles/${candle}/unseal`, post({ salt, words }))
    const { id, unsealUrl } = sealed.record
    assert.strictEqual(unsealUrl, `${url}/api/candles/${id}/unseal`)
    assertAnswer(yield* unseal(id, "No thanks."), 409, "commitment_mismatch")
    const done = yield* unseal(id, "Thank you.")
    assert.deepStrictEqual([done.status, JSON.parse(done.text).candle.unsealed.words], [201, "Thank you."])
    assert.strictEqual((yield* unseal(id, "Thank you.")).status, 200)
    assertAnswer(yield* unseal(id, "No thanks."), 409, "already_unsealed")
    assertAnswer(yield* unseal(open.record.id, "x"), 409, "not_sealed")
    assertAnswer(yield* unseal(nowhere, "x"), 404, "candle_not_found")
    yield* sql`DELETE FROM candles WHERE id = ${open.record.id}::uuid`
    for (const act of ["lightWeek", "lightMonth", "lightDay"]) {
      yield* sql`UPDATE payment_attempts SET state = 'pending', act = ${act} WHERE id = ${open.record.id}::uuid`
      assertAnswer(yield* unseal(open.record.id, "x"), 409, "candle_not_settled")
    }
    yield* sql`UPDATE payment_attempts SET state = 'settled' WHERE id = ${open.record.id}::uuid`
  })
})
