/** The limiter against a model that knows nothing but the rule: no interval of the length holds more than the number. */
import { randomUUID } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { Clock, Deferred, Effect, Fiber, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Exceeded, Limit } from "../../src/limits/Limit.ts"
import { cardPayments, refusedPayments } from "../../src/altar/Limits.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { database, sql } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { realClock } from "../lab/TestServices.ts"
import { valuesOf } from "../lab/Assertions.ts"

const limit: Limit = [
  { name: "short", quota: 3, seconds: 10, says: "3 per 10 seconds" },
  { name: "long", quota: 5, seconds: 60, says: "5 per minute" },
]

/** Pauses in milliseconds, many of them just around the ends of the windows. */
const Pause = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4000 })),
  Schema.Literals([0, 1, 9999, 10_000, 10_001, 30_000, 59_999, 60_000, 60_001]),
])
const Pauses = Schema.Array(Pause).check(Schema.isMinLength(1), Schema.isMaxLength(40))

/** All accepted times, and the rule itself. */
const allows = (accepted: ReadonlyArray<number>, at: number) =>
  limit.every(
    ({ quota, seconds }) => accepted.filter((time) => time > at - seconds * 1000 && time <= at).length < quota,
  )

const waitOf = (accepted: ReadonlyArray<number>, at: number) => {
  let seconds = 1
  while (!allows(accepted, at + seconds * 1000)) seconds += 1
  return seconds
}

const leftOf = (accepted: ReadonlyArray<number>, at: number) =>
  limit.map(({ quota, seconds }) => quota - accepted.filter((time) => time > at - seconds * 1000).length)

const agrees = <E, R>(pauses: ReadonlyArray<number>, setTime: (millis: number) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const limiter = yield* RateLimiter
    const key = randomUUID()
    const accepted: Array<number> = []
    for (const pause of pauses) {
      yield* TestClock.adjust(pause)
      const at = yield* Clock.currentTimeMillis
      yield* setTime(at)
      const expected = allows(accepted, at)
      const result = yield* Effect.result(limiter.take(limit, key))
      assert.strictEqual(Result.isSuccess(result), expected, `at ${at} after ${accepted}`)
      if (Result.isSuccess(result)) {
        accepted.push(at)
        assert.deepStrictEqual(valuesOf(result.success, "remaining"), leftOf(accepted, at))
      } else {
        if (result.failure._tag !== "Exceeded") return yield* Effect.die(result.failure)
        const refusal: Exceeded = result.failure
        assert.strictEqual(refusal.retryAfter, waitOf(accepted, at))
      }
    }
  })

/** A clock in the database that the test moves. */
const databaseClock = Layer.effectDiscard(
  Effect.gen(function* () {
    const db = yield* SqlClient.SqlClient
    yield* db`CREATE TABLE test_clock AS SELECT to_timestamp(0) AS at`
    yield* db`
      CREATE OR REPLACE FUNCTION rate_limit_now() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS 'SELECT at FROM test_clock'`
  }),
)
const setDatabaseTime = (millis: number) =>
  Effect.flatMap(SqlClient.SqlClient, (db) => db`UPDATE test_clock SET at = to_timestamp(${millis}::float8 / 1000)`)

const postgres = Layer.orDie(
  RateLimiter.layer.pipe(Layer.provide(databaseClock), Layer.provideMerge(sql), Layer.provide(database)),
)

layer(postgres)("the limiter in PostgreSQL", (it) => {
  it.effect.prop("accepts exactly as many as the rule allows, and states the exact wait", [Pauses], ([pauses]) =>
    agrees(pauses, setDatabaseTime),
  )

  it.effect("states the wait of the exhausted window that recovers last", () =>
    agrees([0, 2000, 2000, 6001, 2000, 0], setDatabaseTime),
  )

  it.effect("counts each key and each limit separately", function* () {
    const limiter = yield* RateLimiter
    const take = (name: string, key: string) => Effect.result(limiter.take([{ ...limit[0], name }], key))
    const key = randomUUID()
    for (let index = 0; index < 3; index++) assert.isTrue(Result.isSuccess(yield* take("a", key)))
    assert.isTrue(Result.isFailure(yield* take("a", key)))
    assert.isTrue(Result.isSuccess(yield* take("b", key)))
    assert.isTrue(Result.isSuccess(yield* take("a", `${key}x`)))
  })

  it.effect("forgets a key after 24 idle hours, not before, in batches, and keeps none in the WAL", function* () {
    const limiter = yield* RateLimiter
    const db = yield* SqlClient.SqlClient
    const kept = Effect.map(
      limiter.sweep.pipe(Effect.andThen(db<{ key: string }>`SELECT key FROM rate_limits ORDER BY key`)),
      (rows) => rows.map(({ key }) => key).filter((key) => key.includes("idle")),
    )
    yield* setDatabaseTime(0)
    yield* limiter.take(limit, "idle")
    yield* db`
          INSERT INTO rate_limits (key, hits, idle_from)
          SELECT 'idle:' || n, '{}', '1969-01-01' FROM generate_series(1, 2500) AS n`
    assert.deepStrictEqual(yield* kept, ["long:idle", "short:idle"])
    yield* setDatabaseTime(86_399_999)
    assert.deepStrictEqual(yield* kept, ["long:idle", "short:idle"])
    // It is kept for up to ten minutes more, since the time of its removal moves in steps.
    yield* setDatabaseTime(87_000_000)
    assert.deepStrictEqual(yield* kept, [])
    const [table] = yield* db`SELECT relpersistence::text AS how FROM pg_class WHERE relname = 'rate_limits'`
    assert.deepStrictEqual(table, { how: "u" })
  })
})

const onRealClock = Layer.orDie(RateLimiter.layer.pipe(Layer.provideMerge(sql), Layer.provide(database)))

layer(onRealClock, realClock)("refused payments of one address", (it) => {
  it.effect("are counted together, by card or signed", function* () {
    const limiter = yield* RateLimiter
    const taken = yield* Effect.forEach([cardPayments, refusedPayments], (refused) => limiter.take(refused, "both"))
    assert.deepStrictEqual(
      valuesOf(
        taken.map(([address]) => Object(address)),
        "remaining",
      ),
      [59, 58],
    )
  })

  it.effect("that are given back lock their windows in the order of taken ones, so that none deadlocks", function* () {
    const limiter = yield* RateLimiter
    const db = yield* SqlClient.SqlClient
    const caller = "address.customer.site"
    yield* limiter.take(cardPayments, caller)
    const waiting = Effect.andThen(
      db`SELECT pg_stat_clear_snapshot()`,
      db`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    const lock = (window: string) => db`SELECT 1 FROM rate_limits WHERE key LIKE ${window} FOR UPDATE NOWAIT`
    const isLocked = yield* Deferred.make<void>()
    const giving = yield* Effect.forkDetach(
      Effect.andThen(Deferred.await(isLocked), limiter.giveBack(cardPayments, caller)),
    )
    yield* db.withTransaction(
      Effect.gen(function* () {
        // As a taker does, from the widest network to the address.
        yield* lock("refused-cards-48:%")
        yield* Deferred.succeed(isLocked, undefined)
        yield* until("never waits", ({ length }: ReadonlyArray<unknown>) => length > 0)(waiting)
        yield* lock("refused-cards-56:%")
        yield* lock("refused-payments:%")
      }),
    )
    yield* Fiber.join(giving)
    const left = yield* db<{
      n: number
    }>`SELECT cardinality(hits) AS n FROM rate_limits WHERE key NOT LIKE '%both%'`
    assert.deepStrictEqual(valuesOf(left, "n"), [0, 0, 0])
  })
})
