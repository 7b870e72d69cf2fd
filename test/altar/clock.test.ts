/** The chain's time is the database's: a server whose clock is a day off sets stones at the right time, and none after them waits. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ask, layer as world, newCommitment, newKey, newPayer, post, TestServer } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { heldClock, type HeldClock } from "../lab/Clock.ts"

const dayMillis = 86_400_000

/** The server's clock. */
class Drift extends Context.Service<Drift, HeldClock>()("test/Drift") {}

const drifting = Layer.unwrap(
  Effect.map(Drift, ({ clock }) => world().pipe(Layer.provide(Layer.succeed(Clock.Clock, clock)))),
).pipe(Layer.provideMerge(Layer.effect(Drift, heldClock)))

interface Told {
  readonly record: Readonly<Record<string, string>> & { readonly sequence: number }
  readonly receipt: { readonly settledAt: string }
}

const databaseNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ now: Date }>`SELECT clock_timestamp() AS now`
  return row?.now.getTime() ?? 0
})

/** Bought in time by the database, whatever the server takes the time for. */
const buy = Effect.fnUntraced(function* (path: string, body: object, ahead: number) {
  const { url } = yield* TestServer
  const { put } = yield* Drift
  const payer = yield* newPayer()
  const key = newKey()
  put(Date.now() + ahead)
  const challenge = challengeOf(yield* ask(`${url}${path}`, post(body, { "idempotency-key": key })))
  const validBefore = String(Math.floor(Date.now() / 1000) + 290)
  const payment = yield* sign(payer, challenge.accepts[0], challenge.resource, { validBefore })
  const headers = { "idempotency-key": key, "payment-signature": encode(payment) }
  const before = yield* databaseNow
  const answer = yield* ask(`${url}${path}`, post(body, headers))
  const after = yield* databaseNow
  assert.strictEqual(answer.status, 201, answer.text)
  const told: Told = JSON.parse(answer.text)
  return { told, before, after }
})

layer(drifting, { excludeTestServices: true })("a server with a wrong clock", (it) => {
  it.effect("sets stones at the database's time, whether it is ahead or late", () =>
    Effect.gen(function* () {
      let last = ""
      for (const ahead of [0, 3_600_000, 0, -200_000, 0]) {
        const { after, before, told } = yield* buy("/api/witness", { commitment: newCommitment() }, ahead)
        const { witnessedAt = "" } = told.record
        assert.isAtLeast(Date.parse(witnessedAt), before, `clock ${ahead} ms ahead`)
        assert.isAtMost(Date.parse(witnessedAt), after, `clock ${ahead} ms ahead`)
        assert.isTrue(witnessedAt >= last, "the chain's time never runs back")
        assert.strictEqual(told.receipt.settledAt, witnessedAt)
        last = witnessedAt
      }
    }),
  )

  it.effect("goes on from a head that lies ahead of the database", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const future = new Date((yield* databaseNow) + dayMillis)
      yield* sql`UPDATE witness_head SET witnessed_at = ${future.toISOString()}::timestamptz WHERE id = 1`
      for (let stones = 0; stones < 2; stones += 1) {
        const { told } = yield* buy("/api/witness", { commitment: newCommitment() }, 0)
        assert.strictEqual(told.record["witnessedAt"], future.toISOString())
      }
    }),
  )
})
