/** The end of an attempt takes its locks in the common order, and an ended attempt is not sent again. */
import { Deferred, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import { PaidActs } from "../../src/payments/PaidAct.ts"
import { claimOf } from "../../src/payments/Payment.ts"
import { Broadcasts } from "../../src/payments/ledger/Broadcasts.ts"
import { Claim } from "../../src/payments/ledger/Claim.ts"
import { Fail } from "../../src/payments/ledger/Fail.ts"
import { Lookup } from "../../src/payments/ledger/Lookup.ts"
import { Settle } from "../../src/payments/ledger/Settle.ts"
import { UnmatchedPayments } from "../../src/payments/ledger/UnmatchedPayments.ts"
import { PaymentTerms } from "../../src/payments/PaymentTerms.ts"
import { database, sql as ownSql } from "../lab/Database.ts"
import { newHex, newIntent, newName, newPayment } from "../lab/Intents.ts"
import { patience } from "../lab/Patience.ts"
import { assert, suite, valuesOf } from "../lab/Suites.ts"

const claimed = Effect.fnUntraced(function* (pool: string, payment = newPayment()) {
  const { claim } = yield* Claim
  const claims = { slots: [newName()], pool: { name: pool, capacity: 100 } }
  const outcome = yield* claim(newIntent({ payment, claims }))
  return outcome._tag === "Claimed" ? outcome.attempt : yield* Effect.die(`not claimed: ${outcome._tag}`)
})

/** Nothing that is sold here is ever recorded. */
const settle = Settle.layer.pipe(
  Layer.provide([
    UnmatchedPayments.layer,
    PublicUrl.layer("https://altar.example"),
    PaymentTerms.notConfigured([]),
    Layer.succeed(PaidActs, new Map()),
  ]),
)

/** With connections of its own, which may all wait. */
const ledger = Layer.mergeAll(Claim.layer.pipe(Layer.provide(Lookup.layer)), Fail.layer, Broadcasts.layer, settle)

/** Whether any session waits for a lock in this database. */
const waits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return rows.length > 0
})

suite(
  "an attempt that ends",
  ledger.pipe(Layer.provide(Layer.fresh(ownSql)), Layer.provideMerge(ownSql), Layer.provideMerge(database)),
  (it) => {
    // I7
    it("releases its number before its names, in the order of a claim", function* ({ sql }) {
      const { fail } = yield* Fail
      const pool = newName()
      const { id } = yield* claimed(pool)
      const locked = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT name FROM payment_pools WHERE name = ${pool} FOR UPDATE`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(release)
          }),
        ),
      )
      yield* Deferred.await(locked)
      const ending = yield* Effect.forkChild(fail(id, "authorization_expired"))
      yield* Effect.timeout(
        Effect.repeat(waits, { until: (isWaiting) => isWaiting, schedule: Schedule.spaced("20 millis") }),
        patience(20),
      )
      // It waits for the pool, so it holds no name yet.
      const names = yield* sql`SELECT name FROM payment_claims WHERE attempt_id = ${id}::uuid FOR UPDATE NOWAIT`
      assert.lengthOf(names, 2)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      assert.strictEqual((yield* Fiber.join(ending)).state, "failed")
      assert.lengthOf(yield* sql`SELECT name FROM payment_claims WHERE attempt_id = ${id}::uuid`, 0)
      assert.strictEqual((yield* claimed(pool)).number, 1, "its number is given out again")
    })

    // I6
    it("unpaid has its payment recorded once for the operator when the payment is found later", function* ({ sql }) {
      const { fail } = yield* Fail
      const { settle: settling } = yield* Settle
      const payment = newPayment()
      const { id } = yield* claimed(newName(), payment)
      yield* fail(id, "insufficient_funds")
      const transaction = newHex(32)
      const proof = { rail: "x402", payment, transaction, block: 8n } as const
      const ends = yield* Effect.forEach([1, 2], () => settling(id, proof), { concurrency: "unbounded" })
      assert.deepStrictEqual(valuesOf(ends, "state"), ["failed", "failed"])
      const strays = yield* sql`SELECT name, amount_atomic::text AS amount FROM payment_strays
        WHERE transaction = ${transaction}`
      assert.deepStrictEqual(strays, [{ name: claimOf(payment), amount: "10000" }])
    })

    it("unpaid leaves no record when another attempt holds its authorization by then", function* ({ sql }) {
      const { fail } = yield* Fail
      const { settle: settling } = yield* Settle
      const payment = newPayment()
      const { id } = yield* claimed(newName(), payment)
      yield* fail(id, "insufficient_funds")
      yield* claimed(newName(), payment)
      const transaction = newHex(32)
      yield* settling(id, { rail: "x402", payment, transaction, block: 8n })
      assert.deepStrictEqual(yield* sql`SELECT name FROM payment_strays WHERE transaction = ${transaction}`, [])
    })

    // I9
    it("fails as never sent only while no broadcast of it is recorded", function* () {
      const { note } = yield* Broadcasts
      const { failUnsent } = yield* Fail
      const [sent, unsent] = [yield* claimed(newName()), yield* claimed(newName())]
      const passenger = { attempt: sent.id, state: "pending" as const, previous: Option.none() }
      yield* note([passenger], { nonce: 1, hash: newHex(32), maxFeePerGas: 1n, atMillis: Date.now(), members: 1 })
      assert.strictEqual((yield* failUnsent(sent.id, "gas_too_high", false)).state, "pending")
      assert.strictEqual((yield* failUnsent(unsent.id, "gas_too_high", false)).state, "failed")
    })

    it("leaves no record for another transaction", function* () {
      const { note } = yield* Broadcasts
      const { fail } = yield* Fail
      const [over, open] = [yield* claimed(newName()), yield* claimed(newName())]
      const [first, second] = [newHex(32), newHex(32)]
      const broadcast = { nonce: 1, maxFeePerGas: 1n, atMillis: Date.now(), members: 2 }
      const both = (previous: Option.Option<`0x${string}`>) =>
        [over, open].map(({ id }) => ({ attempt: id, state: "pending" as const, previous }))
      const noted = yield* note(both(Option.none()), { ...broadcast, hash: first })
      assert.deepStrictEqual(noted, new Set([over.id, open.id]))
      yield* fail(over.id, "authorization_expired")
      const again = yield* note(both(Option.some(first)), { ...broadcast, hash: second })
      assert.deepStrictEqual(again, new Set([open.id]))
      assert.deepStrictEqual(yield* note(both(Option.some(first)), { ...broadcast, hash: newHex(32) }), new Set())
    })
  },
)
