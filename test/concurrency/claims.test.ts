/** Concurrent intents: each is made or refused as if it had been alone. */
import { assert, layer } from "../lab/It.ts"
import { Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Claims } from "../../src/payments/Act.ts"
import { type CardPayment, claimOf } from "../../src/payments/Payment.ts"
import { Claim, type ClaimOutcome, type NewAttempt } from "../../src/payments/store/Claim.ts"
import { Lookup } from "../../src/payments/store/Lookup.ts"
import { type Refund, Refunds } from "../../src/payments/store/Refunds.ts"
import { database, sql as ownSql } from "../lab/Database.ts"
import { newHex, newIntent, newName, newPayment } from "../lab/Intents.ts"
import { until } from "../lab/Eventually.ts"
import { statementsOf } from "../lab/Statements.ts"
import { realClock } from "../lab/TestServices.ts"

const cardPayment = (): CardPayment => ({
  rail: "card",
  profile: "profile",
  challenge: newName(),
  token: Redacted.make(newName()),
  intent: Option.none(),
})

const balanceOf = (balanceAtomic: bigint) => ({ balanceAtomic, asOfMillis: Date.now(), isExact: false })

const intentOf = (changes: Partial<NewAttempt> = {}) =>
  newIntent({
    input: { words: "ß \u0000 \ud83e\udd89 \\u0000", list: [1, null, { deep: true }] },
    balance: balanceOf(1_000_000n),
    ...changes,
  })

const many = <A>(count: number, make: () => A): ReadonlyArray<A> => Array.from({ length: count }, make)

/** The ledger of one server, with connections of its own. */
const server = Layer.fresh(
  Layer.merge(Claim.layer, Refunds.layer).pipe(Layer.provideMerge(Lookup.layer), Layer.provide(Layer.fresh(ownSql))),
)

const claimAll = Effect.fnUntraced(function* (intents: ReadonlyArray<NewAttempt>) {
  const { claim } = yield* Claim
  return yield* Effect.forEach(intents, (intent) => claim(intent), { concurrency: "unbounded" })
})

const claimed = (outcomes: ReadonlyArray<ClaimOutcome>) =>
  outcomes.flatMap((outcome) => (outcome._tag === "Claimed" ? [outcome.attempt] : []))
const numbersOf = (outcomes: ReadonlyArray<ClaimOutcome>) =>
  claimed(outcomes)
    .map(({ number }) => number ?? 0)
    .sort((a, b) => a - b)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const pooled = (capacity: number, name = newName()): Claims => ({ slots: [], pool: { name, capacity } })

layer(server.pipe(Layer.provideMerge(ownSql), Layer.provideMerge(database)), realClock)("concurrent intents", (it) => {
  it.effect("are numbered without a gap, and read as they were answered", function* () {
    const claims = pooled(1_000)
    const outcomes = yield* claimAll(many(40, () => intentOf({ claims })))
    assert.deepStrictEqual(numbersOf(outcomes), upTo(40))
    const { find } = yield* Lookup
    const cards = yield* claimAll(many(3, () => intentOf({ payment: cardPayment(), balance: undefined })))
    for (const attempt of claimed([...outcomes, ...cards])) {
      assert.deepStrictEqual(Option.getOrUndefined(yield* find(attempt.idempotencyKey)), attempt)
    }
  })
  it.effect("succeed beside one whose name is taken, which learns the holder", function* () {
    const held = intentOf({ claims: { slots: [newName()] } })
    assert.lengthOf(claimed(yield* claimAll([held])), 1)
    const late = [
      intentOf({ claims: held.claims }),
      intentOf({ payment: held.payment }),
      intentOf({ idempotencyKey: held.idempotencyKey }),
    ]
    const claims = pooled(1_000)
    const good = many(20, () => intentOf({ claims }))
    const outcomes = yield* claimAll([...good.slice(0, 10), ...late, ...good.slice(10)])
    assert.deepStrictEqual(numbersOf(outcomes), upTo(20))
    const states = outcomes.flatMap((outcome) => (outcome._tag === "Conflict" ? [outcome.state] : []))
    assert.deepStrictEqual(
      states.map(({ attempt, conflicts, paymentBound }) => [
        Option.isSome(attempt),
        conflicts.map(({ name }) => name),
        paymentBound,
      ]),
      [
        [false, held.claims.slots, false],
        [false, [], true],
        [true, [], false],
      ],
    )
  })

  it.effect("share a statement with one whose payment is bound, again and again", function* () {
    const { payment } = intentOf()
    assert.lengthOf(claimed(yield* claimAll([intentOf({ payment })])), 1)
    const all = [intentOf({ payment }), ...many(40, () => intentOf())]
    assert.isBelow(
      yield* statementsOf(Effect.map(claimAll(all), (outcomes) => assert.lengthOf(claimed(outcomes), 40))),
      10,
    )
  })

  it.effect("of one wallet are claimed as far as its balance goes, and draw no number beyond that", function* () {
    const wallet = newHex(20)
    const claims = pooled(1_000)
    const balance = balanceOf(40_000n)
    const poor = many(12, () => intentOf({ payment: newPayment({ from: wallet }), balance, claims }))
    const rich = many(12, () => intentOf({ claims }))
    const outcomes = yield* claimAll(poor.flatMap((one, index) => [one, ...rich.slice(index, index + 1)]))
    assert.deepStrictEqual(numbersOf(outcomes), upTo(16))
    const overdrawn = outcomes.filter((outcome) => outcome._tag === "Overdrawn")
    assert.deepStrictEqual(
      overdrawn.map(({ inFlight, tooMany }) => [inFlight.length, tooMany]),
      many(8, () => [4, false]),
    )
  })

  it.effect("of one wallet are limited to five, five more for each that it has paid, and 64 at most", function* () {
    const sql = yield* SqlClient.SqlClient
    const wallet = newHex(20)
    const count = 90
    const claimMany = (times: number) =>
      claimAll(many(times, () => intentOf({ payment: newPayment({ from: wallet }), balance: balanceOf(1_000_000n) })))
    const pay = sql`
      UPDATE payment_attempts SET state = 'settled', ended_at = now() WHERE payer = ${wallet} AND state = 'pending'`
    for (const most of [5, 30, 64]) {
      const outcomes = yield* claimMany(count)
      assert.lengthOf(claimed(outcomes), most)
      const refused = outcomes.flatMap((one) => (one._tag === "Overdrawn" && one.tooMany ? [one.most] : []))
      assert.deepStrictEqual(
        refused,
        many(count - most, () => most),
      )
      yield* pay
    }
    yield* sql`UPDATE payment_payers SET limited_until = now() + interval '1 minute' WHERE name = ${wallet}`
    assert.lengthOf(claimed(yield* claimMany(10)), 1, "one in flight after a rehearsed transfer did not pay")
    yield* sql`UPDATE payment_payers SET limited_until = now() WHERE name = ${wallet}`
    yield* pay
    assert.lengthOf(claimed(yield* claimMany(10)), 10, "for an hour")
  })

  it.effect("get the last numbers of a pool, and the released ones, each once", function* () {
    const sql = yield* SqlClient.SqlClient
    const claims = pooled(10)
    const last = yield* claimAll(many(16, () => intentOf({ claims })))
    assert.deepStrictEqual(numbersOf(last), upTo(10))
    assert.strictEqual(last.filter((outcome) => outcome._tag === "Conflict").length, 6)
    const name = newName()
    yield* sql`INSERT INTO payment_pools (name, drawn, highest, released) VALUES (${name}, 8, 8, '{3,7}')`
    const again = yield* claimAll(many(9, () => intentOf({ claims: pooled(12, name) })))
    assert.deepStrictEqual(numbersOf(again), [3, 7, 9, 10, 11, 12])
  })

  it.effect("of several pools get the numbers of their own, and none of a full or empty one", function* () {
    const pools = [pooled(100), pooled(3), pooled(0)] as const
    const sold = yield* claimAll(many(30, () => pools.map((claims) => intentOf({ claims }))).flat())
    const numbersIn = (place: number) => numbersOf(sold.filter((_, index) => index % pools.length === place))
    assert.deepStrictEqual([0, 1, 2].map(numbersIn), [upTo(30), upTo(3), []])
    assert.deepStrictEqual(numbersOf(yield* claimAll(many(5, () => intentOf({ claims: pools[1] })))), [])
    assert.deepStrictEqual(numbersOf(yield* claimAll([intentOf({ claims: pools[0] })])), [31])
  })

  it.effect("wait for no lock of other wallets and pools, and no read waits for theirs", function* () {
    const { state } = yield* Lookup
    const [wallet, claims] = [newHex(20), pooled(1_000)]
    const blocked = () => [intentOf({ payment: newPayment({ from: wallet }) }), intentOf({ claims })]
    assert.lengthOf(claimed(yield* claimAll(blocked())), 2)
    const sql = yield* SqlClient.SqlClient
    const [isLocked, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const locking = sql`SELECT 1 FROM payment_payers, payment_pools WHERE payment_payers.name = ${wallet}
      AND payment_pools.name = ${claims.pool?.name} FOR UPDATE`.pipe(
      Effect.andThen(Deferred.succeed(isLocked, undefined)),
      Effect.andThen(Deferred.await(end)),
      sql.withTransaction,
    )
    const lock = yield* Effect.forkScoped(locking)
    yield* Deferred.await(isLocked)
    const all = many(10, blocked).flat()
    const waiting = yield* Effect.forkScoped(
      Effect.forEach(all, (one) => Effect.exit(claimAll([one])), {
        concurrency: "unbounded",
      }),
    )
    const sessions = sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    yield* until<ReadonlyArray<unknown>>("no claim waits", ({ length }) => length > 0)(sessions)
    yield* Effect.forEach(many(20, newName), (name) => state(name, claims), { concurrency: "unbounded" })
    assert.lengthOf(claimed(yield* claimAll(many(20, () => intentOf()))), 20)
    assert.lengthOf(claimed(yield* claimAll(many(20, () => intentOf({ claims: pooled(5) })))), 20)
    assert.isAtMost((yield* sessions).length, 3, "one of the wallet and two of the pool")
    assert.isUndefined(waiting.pollUnsafe(), "the lock is still held")
    yield* Deferred.succeed(end, undefined)
    yield* Fiber.join(lock)
    yield* Fiber.join(waiting)
  })

  it.effect("are told when the first of all numbers can come free, and no time that has passed", function* () {
    const { state } = yield* Lookup
    const now = Math.floor(Date.now() / 1000)
    const freeFrom = Effect.fnUntraced(function* (...validBefore: ReadonlyArray<number>) {
      const claims = pooled(validBefore.length)
      yield* claimAll(
        validBefore.map((seconds) => intentOf({ claims, payment: newPayment({ validBefore: BigInt(seconds) }) })),
      )
      const { conflicts } = yield* state(newName(), claims)
      return conflicts.map(({ _tag, ...conflict }) => ("heldUntil" in conflict ? conflict.heldUntil : _tag))
    })
    const [early, late] = [now + 60, now + 120]
    const halfAnHourLater = new Date((early + 1800) * 1000).toISOString()
    assert.deepStrictEqual(yield* freeFrom(late, early), [halfAnHourLater])
    assert.deepStrictEqual(yield* freeFrom(now - 1801), ["Pool"])
  })

  it.effect("buy nothing with a payment whose refund is being recorded", function* () {
    const sql = yield* SqlClient.SqlClient
    const { record } = yield* Refunds
    const { claim } = yield* Claim
    const intent = intentOf()
    const refund: Refund = {
      transaction: newHex(32),
      network: "eip155:84532",
      asset: newHex(20),
      payer: newHex(20),
      amountAtomic: "10000",
      originalTransaction: newHex(32),
      attempt: null,
      recordedAt: "2026-01-01T00:00:00.000Z",
    }
    const [recorded, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const refunding = record(claimOf(intent.payment), refund).pipe(
      Effect.andThen(Deferred.succeed(recorded, undefined)),
      Effect.andThen(Deferred.await(end)),
      sql.withTransaction,
    )
    const fiber = yield* Effect.forkScoped(refunding)
    yield* Deferred.await(recorded)
    const claiming = yield* Effect.forkScoped(claim(intent))
    yield* Effect.sleep("200 millis")
    yield* Deferred.succeed(end, undefined)
    yield* Fiber.join(fiber)
    const outcome = yield* Fiber.join(claiming)
    assert.isTrue(outcome._tag === "Conflict" && outcome.state.paymentBound)
  })

  it.effect("on two servers overdraw no wallet, pass no ceiling and take no number twice", function* () {
    const wallet = newHex(20)
    const claims = pooled(30)
    const balance = balanceOf(70_000n)
    const asked = () => [
      ...many(20, () => intentOf({ payment: newPayment({ from: wallet }), balance, claims })),
      ...many(20, () => intentOf({ claims })),
    ]
    const services = yield* Layer.build(server)
    const onBoth = (intents: () => Parameters<typeof claimAll>[0]) =>
      Effect.map(
        Effect.all([claimAll(intents()), Effect.provideContext(claimAll(intents()), services)], {
          concurrency: "unbounded",
        }),
        ([here, there]) => [...here, ...there],
      )
    const all = yield* onBoth(asked)
    const spent = claimed(all).filter(({ payment }) => payment.rail === "x402" && payment.authorization.from === wallet)
    assert.isAtMost(spent.length, 7)
    assert.deepStrictEqual(numbersOf(all), upTo(30))
    const payment = newPayment()
    assert.lengthOf(claimed(yield* onBoth(() => many(10, () => intentOf({ payment })))), 1, "one authorization")
  })
})

layer(ownSql.pipe(Layer.provideMerge(database)), realClock)("the sum of a wallet", (it) => {
  it.effect("is read by an index, with a plan that was made while the table was empty", function* () {
    const sql = yield* SqlClient.SqlClient
    const add = sql`SELECT payment_fits('0x', 1, 1, now(), 5)`
    const read = sql<{ rows: number }>`
      SELECT seq_tup_read::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'payment_attempts'`
    const rows = Effect.gen(function* () {
      yield* sql`ANALYZE payment_attempts`
      yield* Effect.repeat(add, { times: 10 })
      yield* sql`
        INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, amount_atomic, payment, state,
          accepted_at, next_check_at)
        SELECT gen_random_uuid(), n, '', '', '', '', 1, '{"rail": "x402"}', 'settled', now(), now()
        FROM generate_series(1, 1000) AS n`
      const before = yield* read
      yield* add
      return [before, yield* read].map(([table]) => table?.rows)
    })
    const [before, after] = yield* sql.withTransaction(rows)
    assert.isNumber(before)
    assert.strictEqual(after, before)
  })
})
