/** The end of an attempt takes its locks in the common order, and the gas that its wallet has cost is counted once. */
import { Deferred, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import { PaidActs } from "../../src/payments/Act.ts"
import { claimOf } from "../../src/payments/Payment.ts"
import { Broadcasts } from "../../src/payments/store/Broadcasts.ts"
import { Claim } from "../../src/payments/store/Claim.ts"
import { Fail } from "../../src/payments/store/Fail.ts"
import { Lookup } from "../../src/payments/store/Lookup.ts"
import type { NewAttempt } from "../../src/payments/store/NewAttempt.ts"
import { type GasLoss, Refusals } from "../../src/payments/store/Refusals.ts"
import { Settle } from "../../src/payments/store/Settle.ts"
import { UnmatchedPayments } from "../../src/payments/store/Unmatched.ts"
import { PaymentTerms } from "../../src/payments/PaymentTerms.ts"
import { database, sql as ownSql } from "../lab/Database.ts"
import { newHex, newIntent, newName, newPayment } from "../lab/Intents.ts"
import { patience } from "../lab/Patience.ts"
import { assert, suite, valuesOf } from "../lab/Suites.ts"

const claimed = Effect.fnUntraced(function* (pool: string, payment = newPayment(), balance?: NewAttempt["balance"]) {
  const { claim } = yield* Claim
  const claims = { slots: [newName()], pool: { name: pool, capacity: 100 } }
  const outcome = yield* claim(newIntent({ payment, claims, balance }))
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
const ledger = Layer.mergeAll(
  Claim.layer.pipe(Layer.provide(Lookup.layer)),
  Fail.layer,
  Broadcasts.layer,
  Refusals.layer,
  settle,
)
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

suite("an attempt that ends", fixture, (it) => {
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

  // I10
  it("fails as unread by the facilitator only while no other inquiry has ended", function* ({ sql }) {
    const { failUnsent } = yield* Fail
    const { id } = yield* claimed(newName())
    for (const [checks, state] of [
      [1, "pending"],
      [0, "failed"],
    ] as const) {
      yield* sql`UPDATE payment_attempts SET checks = ${checks} WHERE id = ${id}::uuid`
      assert.strictEqual((yield* failUnsent(id, "facilitator_unreachable", true)).state, state)
    }
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
})

const reason = "wallet_did_not_pay"

/** Payments of these wallets that were broadcast together, as they are judged when their block did not pay; each lost so much. */
const lost = Effect.fnUntraced(function* (wallets: ReadonlyArray<`0x${string}`>, gas: bigint) {
  const { note } = yield* Broadcasts
  const balance = { balanceAtomic: 1_000_000n, asOfMillis: Date.now(), isExact: false, isContract: false }
  const losses = yield* Effect.forEach(
    wallets,
    Effect.fnUntraced(function* (wallet) {
      const { id } = yield* claimed(newName(), newPayment({ from: wallet }), balance)
      return { attempt: id, wallet, reason, gas } satisfies GasLoss
    }),
  )
  const hash = newHex(32)
  const passengers = losses.map(({ attempt }) => ({ attempt, state: "pending" as const, previous: Option.none() }))
  yield* note(passengers, { nonce: 1, hash, maxFeePerGas: 1n, atMillis: Date.now(), members: losses.length })
  return { hash, losses }
})

/** Judged four times at the same time by each of two servers. */
const judge = Effect.fnUntraced(function* ({ hash, losses }: Effect.Success<ReturnType<typeof lost>>) {
  const there = yield* Layer.build(Layer.fresh(Refusals.layer.pipe(Layer.provide(Layer.fresh(ownSql)))))
  const judgeAll = Effect.flatMap(Refusals, ({ refuse }) =>
    Effect.forEach([1, 2, 3, 4], () => refuse(hash, losses), { concurrency: "unbounded" }),
  )
  yield* Effect.all([judgeAll, Effect.provideContext(judgeAll, there)], { concurrency: "unbounded" })
})

suite("the gas loss of a wallet", fixture, (it) => {
  it("counts each broadcast once, whichever servers judge it at the same time", function* ({ sql }) {
    const wallet = newHex(20)
    const first = yield* lost([wallet], 70_000n)
    const second = yield* lost([wallet], 5_000n)
    const gas = Effect.map(
      sql`SELECT lost_gas::int AS gas FROM payment_payers WHERE name = ${wallet}`,
      ([row]) => row?.["gas"],
    )
    yield* judge(first)
    assert.strictEqual(yield* gas, 70_000)
    yield* judge(second)
    assert.strictEqual(yield* gas, 75_000, "what is lost while it is refused adds up")
    // Its hour is over, and what was counted stays so.
    yield* sql`UPDATE payment_payers SET refused_until = now() - interval '1 second' WHERE name = ${wallet}`
    yield* judge(first)
    const { refused } = yield* Effect.flatMap(Refusals, ({ of }) => of(first.losses[0]?.attempt ?? "", wallet))
    assert.isTrue(Option.isNone(refused), "a loss that was counted refuses nobody again")
    assert.strictEqual(yield* gas, 75_000)
    yield* sql`UPDATE payment_attempts SET state = 'failed' WHERE payer = ${wallet}`
    const third = yield* lost([wallet], 3_000n)
    yield* judge(third)
    assert.strictEqual(yield* gas, 3_000, "a new refusal begins to count anew")
  })

  it("of one transaction is shared among the wallets that caused it, and counted once", function* ({ sql }) {
    const [twice, once, later] = [newHex(20), newHex(20), newHex(20)]
    const { hash, losses } = yield* lost([twice, once, twice, later], 900_000n)
    const counted = sql`
          SELECT name, lost_gas::int AS gas, refused_until > now() AS refused FROM payment_payers
          WHERE name IN (${twice}, ${once}, ${later})`
    const gasOf = (wallet: string) =>
      Effect.map(counted, (rows) => {
        const row = rows.find(({ name }) => name === wallet)
        return [row?.["gas"], row?.["refused"]]
      })
    yield* judge({ hash, losses: losses.filter(({ wallet }) => wallet !== later) })
    assert.deepStrictEqual(yield* gasOf(twice), [1_800_000, true])
    assert.deepStrictEqual(yield* gasOf(once), [900_000, true])
    yield* judge({ hash, losses })
    assert.deepStrictEqual(yield* gasOf(later), [0, true], "what is counted is not counted again")
    assert.deepStrictEqual(yield* gasOf(twice), [1_800_000, true])
  })
})
