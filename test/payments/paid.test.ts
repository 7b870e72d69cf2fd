/** The state table of a paid request, row by row, against a real chain and a real database. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, layer as world, newCommitment, newKey, newPayer, pay, post, World } from "../lab/Fixture.ts"
import { challengeOf } from "../lab/buyer/Payment.ts"

layer(world(), { excludeTestServices: true })("a paid request", (it) => {
  // I12
  it.effect("settles once and replays the same bytes", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const payer = yield* newPayer()
      const body = { commitment: newCommitment() }
      const { answer, headers } = yield* pay(payer, `${url}/api/witness`, body)
      assert.strictEqual(answer.status, 201, answer.text)
      const again = yield* ask(`${url}/api/witness`, post(body, headers))
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.text, answer.text.replace(/"replayed":false\}$/u, '"replayed":true}'))
      assert.strictEqual(again.headers.get("payment-response"), answer.headers.get("payment-response"))
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    }),
  )

  it.effect("a bare probe is told the price and writes nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* World
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
