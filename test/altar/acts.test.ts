/** One table over all acts: price, settlement, replay, second buyer, public row; the pipeline treats them alike. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ActRow, acts } from "../lab/ActTable.ts"
import { today } from "../lab/Clock.ts"
import { ask, layer as world, newKey, newPayer, post, TestServer } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { assertAnswer } from "../lab/AnswerAssertions.ts"

const table = acts()

const init = (body: object | undefined, headers: Record<string, string>): RequestInit =>
  body === undefined ? { method: "POST", headers } : post(body, headers)

const buy = Effect.fnUntraced(function* (request: ReturnType<ActRow["request"]>, key = newKey()) {
  const { url } = yield* TestServer
  const payer = yield* newPayer()
  const at = `${url}${request.path}`
  const asked = yield* ask(at, init(request.body, { "idempotency-key": key }))
  if (asked.status !== 402) return { answer: asked, challenge: undefined, headers: { "idempotency-key": key } }
  const challenge = challengeOf(asked)
  const payment = yield* sign(payer, challenge.accepts[0], challenge.resource)
  const headers = { "idempotency-key": key, "payment-signature": encode(payment) }
  return { answer: yield* ask(at, init(request.body, headers)), challenge, headers }
})

layer(world(), { excludeTestServices: true })("every act", (it) => {
  it.effect.each(table)("$name settles, replays, and is a public row", (act) =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      yield* today
      const request = act.request()
      const probe = yield* ask(`${url}${request.path}`, { method: "POST" })
      assert.strictEqual(probe.status, 402)
      assert.strictEqual(challengeOf(probe).accepts[0].amount, act.price)

      const { answer, challenge, headers } = yield* buy(request)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(challenge?.resource.url, `${url}${request.path}`)
      const body = JSON.parse(answer.text)
      assert.deepStrictEqual(Object.keys(body.record), act.record)
      assert.strictEqual(body.receipt.amountAtomic, act.price)
      assert.strictEqual(body.replayed, false)
      assert.isTrue(String(body.permalink).startsWith(url))

      const again = yield* ask(`${url}${request.path}`, init(request.body, headers))
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.text, answer.text.replace(/false\}$/u, "true}"))
      const reconciled = yield* ask(`${url}/api/reconcile/${headers["idempotency-key"]}`, { method: "POST" })
      assert.deepStrictEqual([reconciled.status, reconciled.text], [200, again.text])
      assert.strictEqual(reconciled.headers.get("payment-response"), answer.headers.get("payment-response"))

      const row = JSON.parse((yield* ask(`${url}/api/acts/${body.record.id}`)).text).act
      const { finality, ...receipt } = row.receipt
      assert.include(["pending", "final"], finality, "a read says how the transfer stands")
      assert.deepStrictEqual([row.act, row.record, receipt], [act.name, body.record, body.receipt])
      const newest = JSON.parse((yield* ask(`${url}/api/acts?limit=1`)).text).acts[0]
      assert.strictEqual(newest.id, body.record.id)

      if (act.taken !== undefined) {
        const second = yield* buy(request)
        assert.deepStrictEqual([second.answer.status, second.answer.json["code"]], [409, act.taken])
        assert.match(String(second.answer.json["message"]), /This request charged nothing\.$/u)
      }
    }),
  )

  it.effect.each(table.filter((act) => act.held !== undefined))("$name tells a held slot from a taken one", (act) =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      yield* today
      const request = act.request()
      const bought = yield* buy(request)
      assert.strictEqual(bought.answer.status, 201)
      const id = String(JSON.parse(bought.answer.text).record.id)
      // As it was while the payment was open.
      yield* sql`UPDATE payment_attempts SET state = 'pending' WHERE id = ${id}::uuid`
      const second = yield* ask(`${url}${request.path}`, init(request.body, { "idempotency-key": newKey() }))
      assertAnswer(second, 409, act.held ?? "")
      const open = yield* ask(`${url}${request.path}`, init(request.body, bought.headers))
      assertAnswer(open, 202, "settlement_pending")
      assert.match(String(open.json["message"]), /Do not pay again/u)
      assert.strictEqual(open.headers.get("location"), open.json["reconcile"])
      assert.isAbove(Number(open.headers.get("retry-after")), 0)
      yield* sql`UPDATE payment_attempts SET state = 'settled' WHERE id = ${id}::uuid`
    }),
  )

  it.effect("a prayer is answered with one of its spirit's lines, the same for the same words", () =>
    Effect.gen(function* () {
      const { answer } = yield* buy({
        path: "/api/prayers/brass-cicada",
        body: { agentName: "Wren", intentionCommitment: `${"0".repeat(63)}1` },
      })
      const { spirits } = yield* Effect.promise(() => import("../../src/altar/Spirits.ts"))
      assert.strictEqual(JSON.parse(answer.text).line, spirits.at(-1)?.lines[1])
    }),
  )

  it.effect("one that cannot be read is left out of every list, and holds up none of its neighbours", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const listed = (path: string) => Effect.map(ask(`${url}${path}`), ({ text }) => JSON.parse(text))
      const { acts: before, next } = yield* listed("/api/acts?limit=3")
      const { id } = before[1]
      const [row] = yield* sql`SELECT receipt FROM acts WHERE id = ${id}::uuid`
      yield* sql`UPDATE acts SET receipt = '{}' WHERE id = ${id}::uuid`
      assert.deepStrictEqual(yield* listed("/api/acts?limit=3"), { ok: true, acts: [before[0], before[2]], next })
      const home = yield* ask(`${url}/v2/`, { headers: { accept: "text/html" } })
      assert.deepStrictEqual(
        [home.status, home.text.includes(before[0].id), home.text.includes(id)],
        [200, true, false],
      )
      assert.strictEqual((yield* ask(`${url}/api/acts/${id}`)).status, 500)
      yield* sql`UPDATE acts SET receipt = ${row?.["receipt"]} WHERE id = ${id}::uuid`
    }),
  )

  it.effect("a prayer for another day, a shared body and URL name, and an unknown item are refused", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const prayer = { agentName: "Wren", intentionCommitment: "ab".repeat(32) }
      const expected: ReadonlyArray<readonly [string, object, number, string]> = [
        ["/api/prayers/moss-hare?day=2020-01-01", prayer, 409, "prayer_day_not_today"],
        ["/api/prayers/moss-hare?day=today", prayer, 400, "bad_request"],
        ["/api/prayers/moss-hair", prayer, 404, "spirit_not_found"],
        ["/api/prayers/moss-hare", { ...prayer, familiarId: "static-fox" }, 400, "bad_request"],
        ["/api/prayers/moss-hare", { ...prayer, intentionCommitment: "0".repeat(64) }, 422, "commitment_refused"],
        ["/api/acquire/nobody", {}, 404, "spirit_not_found"],
        ["/api/elements/unobtainium/collect", {}, 404, "element_not_found"],
        ["/api/elements/Beeswax/collect", {}, 404, "element_not_found"],
        ["/api/elements/beeswax/collect?spirit=nobody", {}, 400, "bad_request"],
        ["/api/elements/beeswax/collect?spirit=moss-hare&spirit=static-fox", {}, 400, "bad_request"],
        ["/api/candles/day/moss-hare", {}, 400, "bad_request"],
        ["/api/candles/day/moss-hare", { dedication: "see my-site.example.com" }, 422, "dedication_held"],
        ["/api/candles/day/moss-hare", { dedication: "x".repeat(41) }, 400, "bad_request"],
        ["/api/candles/year/moss-hare", { dedication: "x" }, 404, "not_found"],
        ["/api/candles/day/moss-hare", { parentId: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1" }, 409, "parent_not_lit"],
        ["/api/candles/day/moss-hare?x=1", { dedication: "x" }, 400, "bad_request"],
      ]
      for (const [path, body, status, code] of expected) {
        const answer = yield* ask(`${url}${path}`, post(body, { "idempotency-key": newKey() }))
        assertAnswer(answer, status, code, undefined, `${path} ${answer.text}`)
        // Nobody has looked at the payment that such a request may bring.
        assert.notMatch(answer.text, /nothing was charged/iu)
      }
    }),
  )

  it.effect("a light needs a lit candle of the same spirit and has no dedication", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const candle = yield* buy({ path: "/api/candles/week/lichen-yak", body: { dedication: "For the herd" } })
      const parentId = JSON.parse(candle.answer.text).record.id
      const both = yield* ask(
        `${url}/api/candles/day/lichen-yak`,
        post({ parentId, dedication: "x" }, { "idempotency-key": newKey() }),
      )
      assert.strictEqual(both.json["code"], "bad_request")
      const elsewhere = yield* ask(
        `${url}/api/candles/day/moss-hare`,
        post({ parentId }, { "idempotency-key": newKey() }),
      )
      assert.strictEqual(elsewhere.json["code"], "parent_not_lit")
      const added = yield* buy({ path: "/api/candles/day/lichen-yak", body: { parentId, agentName: "Wren" } })
      assert.strictEqual(added.answer.status, 201)
      const onLight = yield* ask(
        `${url}/api/candles/day/lichen-yak`,
        post({ parentId: JSON.parse(added.answer.text).record.id }, { "idempotency-key": newKey() }),
      )
      assert.strictEqual(onLight.json["code"], "parent_not_lit")
      const wall = JSON.parse((yield* ask(`${url}/api/candles?spirit=lichen-yak`)).text)
      const shown = wall.candles.find((one: { id: string }) => one.id === parentId)
      assert.deepStrictEqual([shown.lightCount, shown.lights[0].agentName], [1, "Wren"])
      const { altars } = JSON.parse((yield* ask(`${url}/api/altars`)).text)
      const altar = altars.find(({ spirit }: { spirit: string }) => spirit === "lichen-yak")
      assert.deepStrictEqual(
        altar.candles.find((one: { id: string }) => one.id === parentId),
        shown,
      )
      assert.deepStrictEqual(wall.rails, ["x402"])
      assert.deepStrictEqual(
        wall.rungs.map((rung: { amountAtomic: string; days: number }) => [rung.amountAtomic, rung.days]),
        [
          ["1000000", 1],
          ["3000000", 7],
          ["9000000", 30],
        ],
      )
    }),
  )

  it.effect("sealed words of a candle are unsealed once", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const { seal } = yield* Effect.promise(() => import("../../src/altar/Hashes.ts"))
      const salt = "a salt of sixteen or more"
      const sealed = yield* buy({
        path: "/api/candles/day/kelp-seal",
        body: { dedication: "Low water", intentionCommitment: seal(salt, "Thank you.") },
      })
      const open = yield* buy({ path: "/api/candles/day/kelp-seal", body: { dedication: "High water" } })
      const id = JSON.parse(sealed.answer.text).record.id
      const unseal = (candle: string, words: string) =>
        ask(`${url}/api/candles/${candle}/unseal`, post({ salt, words }))
      assert.strictEqual((yield* unseal(id, "No thanks.")).json["code"], "commitment_mismatch")
      const done = yield* unseal(id, "Thank you.")
      assert.deepStrictEqual([done.status, JSON.parse(done.text).candle.unsealed.words], [201, "Thank you."])
      assert.strictEqual((yield* unseal(id, "Thank you.")).status, 200)
      assert.strictEqual((yield* unseal(id, "No thanks.")).json["code"], "already_unsealed")
      assert.strictEqual((yield* unseal(JSON.parse(open.answer.text).record.id, "x")).json["code"], "not_sealed")
      assert.strictEqual((yield* unseal("3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1", "x")).json["code"], "candle_not_found")
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, network, asset, pay_to, payer,
          nonce, amount_atomic, valid_after, valid_before, signature, payload, from_block, state, accepted_at, next_check_at)
        VALUES ('3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1', ${newKey()}, '', 'lightDay', '', '{}', 'eip155:84532', '0x', '0x', '0x',
          '0x', 1, 0, 9999999999, '0x', '{}', 0, 'pending', now(), now() + interval '1 hour')`
      assert.strictEqual(
        (yield* unseal("3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1", "x")).json["code"],
        "candle_not_settled",
      )
      yield* sql`DELETE FROM payment_attempts WHERE id = '3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1'`
    }),
  )
})
