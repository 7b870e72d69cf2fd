/** A paid request settles once; a replay has its bytes and headers, and no cache may keep either. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, layer as world, newCommitment, newKey, newPayer, pay, post, TestServer } from "../lab/Fixture.ts"
import { challengeOf } from "../lab/buyer/Payment.ts"

const acts: ReadonlyArray<readonly [path: string, body: () => object]> = [
  ["/api/witness", () => ({ commitment: newCommitment() })],
  ["/api/prayers/moss-hare", () => ({ agentName: "Wren", intentionCommitment: newCommitment() })],
  ["/api/acquire/moss-hare", () => ({})],
  ["/api/elements/beeswax/collect?spirit=moss-hare", () => ({ reason: "June" })],
  ["/api/candles/day/moss-hare", () => ({ dedication: "For the bees" })],
]

/** What belongs to one answer and not to the act (RFC 9110, the status line's own length, and the id of the request). */
const ofOneAnswer = new Set(["date", "content-length", "connection", "keep-alive", "x-request-id"])

const kept = (headers: Headers) => new Map([...headers].filter(([name]) => !ofOneAnswer.has(name)))

layer(world(), { excludeTestServices: true })("paid answers", (it) => {
  // I12
  it.effect.each(acts)(
    "%s: every byte and header of the first answer is in its replays, which add their own mark alone",
    ([path, body]) =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const sent = body()
        const { answer, headers, key } = yield* pay(yield* newPayer(), `${url}${path}`, sent)
        assert.strictEqual(answer.status, 201, answer.text)
        const first = kept(answer.headers)
        assert.strictEqual(first.get("cache-control"), "no-store")
        assert.isDefined(first.get("payment-response"))
        for (const replay of [
          yield* ask(`${url}${path}`, post(sent, headers)),
          yield* ask(`${url}${path}`, post(sent, { "idempotency-key": key })),
          yield* ask(`${url}/api/reconcile/${key}`, { method: "POST" }),
        ]) {
          assert.strictEqual(replay.status, 200, replay.text)
          const again = kept(replay.headers)
          assert.strictEqual(again.get("idempotent-replayed"), "true")
          again.delete("idempotent-replayed")
          assert.deepStrictEqual([...again], [...first])
          assert.strictEqual(replay.text, answer.text.replace(/"replayed":false\}$/u, '"replayed":true}'))
        }
      }),
  )

  it.effect.each(acts)("%s: no refusal may be kept either", ([path, body]) =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const key = { "idempotency-key": newKey() }
      for (const init of [
        { method: "POST" },
        post(body()),
        post(body(), { "idempotency-key": "short" }),
        post(body(), key),
        post(body(), { ...key, "payment-signature": "" }),
        post(body(), { ...key, "payment-signature": "nonsense" }),
        post({ unknown: 1 }, key),
        post("{", key),
      ]) {
        const answer = yield* ask(`${url}${path}`, init)
        assert.isAtLeast(answer.status, 400, answer.text)
        assert.strictEqual(answer.headers.get("cache-control"), "no-store", `${answer.status} ${answer.text}`)
      }
      const nobody = yield* ask(`${url}/api/reconcile/${newKey()}`, { method: "POST" })
      assert.deepStrictEqual([nobody.status, nobody.headers.get("cache-control")], [404, "no-store"])
    }),
  )

  it.effect("a bare probe is told the price and writes nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const count = sql<{
        n: bigint
      }>`SELECT (SELECT count(*) FROM payment_attempts) + (SELECT count(*) FROM payment_pools) AS n`
      const before = yield* count
      const probe = yield* ask(`${url}/api/witness`, { method: "POST" })
      assert.strictEqual(probe.status, 402)
      assert.strictEqual(probe.headers.get("cache-control"), "no-store")
      assert.strictEqual(challengeOf(probe).accepts[0].amount, "10000")
      const keyed = yield* ask(
        `${url}/api/witness`,
        post({ commitment: newCommitment() }, { "idempotency-key": newKey() }),
      )
      assert.strictEqual(keyed.status, 402)
      assert.deepStrictEqual(yield* count, before)
    }),
  )
})
