/** The end of an attempt takes its locks in the common order, and each nonce of the relayer is claimed once. */
import { assert, layer } from "../lab/It.ts"
import { Deferred, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import { PaidActs } from "../../src/payments/Act.ts"
import { Broadcasts, type Claiming } from "../../src/payments/x402/settle/Broadcasts.ts"
import { Claim } from "../../src/payments/store/Claim.ts"
import { Fail } from "../../src/payments/store/Fail.ts"
import { Lookup } from "../../src/payments/store/Lookup.ts"
import { Settle } from "../../src/payments/store/Settle.ts"
import { UnmatchedPayments } from "../../src/payments/store/Unmatched.ts"
import { PaymentTerms } from "../../src/payments/PaymentTerms.ts"
import { database, sql as ownSql } from "../lab/Database.ts"
import { newHex, newIntent, newName, newPayment } from "../lab/Intents.ts"
import { patience } from "../lab/Patience.ts"
import { valuesOf } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

const claimed = Effect.fnUntraced(function* (pool: string, payment = newPayment()) {
  const { claim } = yield* Claim
  const claims = { slots: [newName()], pool: { name: pool, capacity: 100 } }
  const outcome = yield* claim(newIntent({ payment, claims }))
  return outcome._tag === "Claimed" ? outcome.attempt : yield* Effect.die(`not claimed: ${outcome._tag}`)
})

/** Without acts, since an attempt has failed before it is settled here. */
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
const fixture = ledger.pipe(
  Layer.provide(Layer.fresh(ownSql)),
  Layer.provideMerge(ownSql),
  Layer.provideMerge(database),
)

/** Whether any session waits for a lock in this database. */
const waits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return rows.length > 0
})

const key = newHex(20)

/** A signed transaction of an attempt, without gas at risk. */
const newClaim = (attempt: string, changes: Partial<Claiming> = {}): Claiming => ({
  attempt,
  state: "pending",
  sender: key,
  nonce: 1,
  hash: newHex(32),
  raw: "0x02",
  gasAtRisk: 0n,
  gasAtMost: 0n,
  mined: 0,
  ...changes,
})

layer(fixture, realClock)("an attempt that ends", (it) => {
  it.effect("releases its number before its names, in the order of a claim", function* () {
    const sql = yield* SqlClient.SqlClient
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
    const [kept, ...others] = yield* sql<{ readonly name: string }>`
      SELECT name FROM payment_claims WHERE attempt_id = ${id}::uuid`
    assert.match(kept?.name ?? "", /^authorization:/u)
    assert.deepStrictEqual(others, [])
    assert.strictEqual((yield* claimed(pool)).number, 1, "its number is given out again")
  })
  it.effect("fails as never sent only while no broadcast of it is recorded", function* () {
    const { claim } = yield* Broadcasts
    const { failUnsent } = yield* Fail
    const [sent, unsent] = [yield* claimed(newName()), yield* claimed(newName())]
    assert.isTrue(yield* claim(newClaim(sent.id)))
    assert.strictEqual((yield* failUnsent(sent.id, "gas_too_high")).state, "pending")
    assert.strictEqual((yield* failUnsent(unsent.id, "gas_too_high")).state, "failed")
  })

  it.effect("gets no transaction and no other end any more", function* () {
    const { claim } = yield* Broadcasts
    const { fail } = yield* Fail
    const { settle } = yield* Settle
    const payment = newPayment()
    const { id } = yield* claimed(newName(), payment)
    const failed = yield* fail(id, "authorization_expired")
    assert.isFalse(yield* claim(newClaim(id)))
    assert.deepStrictEqual(yield* fail(id, "wallet_could_not_pay"), failed)
    assert.deepStrictEqual(yield* settle(id, { rail: "x402", payment, transaction: newHex(32), block: 1n }), failed)
  })
})

layer(fixture, realClock)("transactions of one relayer key", (it) => {
  it.effect("of two servers never share a nonce, and an attempt never has two", function* () {
    const sql = yield* SqlClient.SqlClient
    const sender = newHex(20)
    const there = yield* Layer.build(Layer.fresh(Broadcasts.layer.pipe(Layer.provide(Layer.fresh(ownSql)))))
    const attempts = yield* Effect.forEach(Array.from({ length: 8 }), () => claimed(newName()))
    const claimAll = Effect.flatMap(Broadcasts, ({ claim }) =>
      Effect.forEach(attempts, ({ id }, index) => claim(newClaim(id, { sender, nonce: index % 5 })), {
        concurrency: "unbounded",
      }),
    )
    yield* Effect.all([claimAll, Effect.provideContext(claimAll, there)], { concurrency: "unbounded" })
    const rows = yield* sql`SELECT nonce::int AS nonce, attempt_id FROM relayer_broadcasts WHERE sender = ${sender}`
    assert.deepStrictEqual([...new Set(valuesOf(rows, "nonce"))].sort(), [0, 1, 2, 3, 4])
    assert.lengthOf(rows, 5)
    assert.lengthOf([...new Set(valuesOf(rows, "attemptId"))], 5)
  })

  it.effect("risk no more gas in flight than the limit, which holds no trusted wallet back", function* () {
    const { claim, line } = yield* Broadcasts
    const sender = newHex(20)
    const claimNext = Effect.fnUntraced(function* (nonce: number, gasAtRisk: bigint, mined = 0) {
      const { id } = yield* claimed(newName())
      return yield* claim(newClaim(id, { sender, nonce, gasAtRisk, gasAtMost: 300_000n, mined }))
    })
    assert.isTrue(yield* claimNext(0, 150_000n))
    assert.isTrue(yield* claimNext(1, 150_000n))
    assert.isFalse(yield* claimNext(2, 150_000n))
    assert.isTrue(yield* claimNext(2, 0n))
    assert.isTrue(yield* claimNext(3, 150_000n, 1), "the first one is in a block")
    assert.deepStrictEqual(yield* line(sender, 1), { next: 4, gasAtRisk: 300_000n })
  })

  it.effect("are replaced by one server", function* () {
    const { claim, find, replace } = yield* Broadcasts
    const { id } = yield* claimed(newName())
    const [first, second] = [newClaim(id, { sender: newHex(20) }), newHex(32)]
    assert.isTrue(yield* claim(first))
    assert.isTrue(yield* replace(first.hash, { ...first, hash: second }))
    assert.isFalse(yield* replace(first.hash, { ...first, hash: newHex(32) }))
    assert.strictEqual(Option.getOrThrow(yield* find(id)).hash, second)
  })
})
