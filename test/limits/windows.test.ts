/** The limiter against a model that knows nothing but the rule: no interval of the length holds more than the number. */
import { randomUUID } from "node:crypto"
import { Clock, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Exceeded, headersOf, type Policy } from "../../src/limits/Policy.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { named, prepare } from "../../src/platform/Sql.ts"
import { database, sql } from "../lab/Database.ts"
import { assert, assertEach, describe, it, valuesOf } from "../lab/Suites.ts"

const policy: Policy = {
  name: "test",
  windows: [
    { name: "short", quota: 3, seconds: 10, says: "3 per 10 seconds" },
    { name: "long", quota: 5, seconds: 60, says: "5 per minute" },
  ],
}

/** Pauses in milliseconds, many of them just around the ends of the windows. */
const Pause = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4000 })),
  Schema.Literals([0, 1, 9999, 10_000, 10_001, 30_000, 59_999, 60_000, 60_001]),
])
const Pauses = Schema.Array(Pause).check(Schema.isMinLength(1), Schema.isMaxLength(40))

/** All accepted times, and the rule itself. */
const allows = (accepted: ReadonlyArray<number>, at: number) =>
  policy.windows.every(
    ({ quota, seconds }) => accepted.filter((time) => time > at - seconds * 1000 && time <= at).length < quota,
  )

const waitOf = (accepted: ReadonlyArray<number>, at: number) => {
  let seconds = 1
  while (!allows(accepted, at + seconds * 1000)) seconds += 1
  return seconds
}

const leftOf = (accepted: ReadonlyArray<number>, at: number) =>
  policy.windows.map(({ quota, seconds }) => quota - accepted.filter((time) => time > at - seconds * 1000).length)

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
      const result = yield* Effect.result(limiter.take(policy, key))
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

const Groups = Schema.Array(
  Schema.Struct({ pause: Pause, count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 })) }),
).check(Schema.isMinLength(1), Schema.isMaxLength(40))

/** Several requests of one key at a gate: all are taken where the rule allows the last of them, else none. */
const agreesTogether = <E, R>(
  groups: (typeof Groups)["Type"],
  setTime: (millis: number) => Effect.Effect<unknown, E, R>,
) =>
  Effect.gen(function* () {
    const limiter = yield* RateLimiter
    const db = yield* SqlClient.SqlClient
    const gate = limiter.gate(policy, db`(SELECT ${named("key")}::text AS key, ${named("n")}::int AS n) AS asked`)
    const take = (yield* prepare)<{ readonly used: ReadonlyArray<number> }>(db`WITH ${gate.slot} SELECT * FROM slot`)
    const key = randomUUID()
    const accepted: Array<number> = []
    for (const { count, pause } of groups) {
      yield* TestClock.adjust(pause)
      const at = yield* Clock.currentTimeMillis
      yield* setTime(at)
      const values = yield* gate.values
      const [row] = yield* take({ ...values, key: gate.keyOf(key), n: count })
      const together = [...accepted, ...Array.from({ length: count - 1 }, () => at)]
      assert.strictEqual(row !== undefined, allows(together, at), `${count} at ${at} after ${accepted}`)
      if (row === undefined) continue
      accepted.push(...Array.from({ length: count }, () => at))
      assertEach(policy.windows, ({ quota }, index) => quota - (row.used[index] ?? 0), leftOf(accepted, at))
    }
  })

/** A clock in the database that the test moves. */
const databaseClock = Layer.effectDiscard(
  Effect.gen(function* () {
    const db = yield* SqlClient.SqlClient
    yield* db`CREATE TABLE test_clock AS SELECT to_timestamp(0) AS at`
    yield* db`
      CREATE FUNCTION test_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM test_clock'`
  }),
)
const setDatabaseTime = (millis: number) =>
  Effect.flatMap(SqlClient.SqlClient, (db) => db`UPDATE test_clock SET at = to_timestamp(${millis}::float8 / 1000)`)

const postgres = Layer.orDie(
  RateLimiter.layer("test_now()").pipe(Layer.provide(databaseClock), Layer.provideMerge(sql), Layer.provide(database)),
)

describe("the limiter in PostgreSQL", () => {
  it.layer(postgres)((it) => {
    it.effect.prop("accepts exactly as many as the rule allows, and states the exact wait", [Pauses], ([pauses]) =>
      agrees(pauses, setDatabaseTime),
    )

    it.effect.prop("counts several together, or none of them", [Groups], ([groups]) =>
      agreesTogether(groups, setDatabaseTime),
    )

    it.effect("counts each key and each policy separately", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const take = (name: string, key: string) => Effect.result(limiter.take({ ...policy, name }, key))
        const key = randomUUID()
        for (let index = 0; index < 3; index++) assert.isTrue(Result.isSuccess(yield* take("a", key)))
        assert.isTrue(Result.isFailure(yield* take("a", key)))
        assert.isTrue(Result.isSuccess(yield* take("b", key)))
        assert.isTrue(Result.isSuccess(yield* take("a", `${key}x`)))
      }),
    )

    it.effect("forgets a key after 24 idle hours, not before, in batches, and keeps none in the write-ahead log", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const db = yield* SqlClient.SqlClient
        const kept = Effect.map(
          limiter.sweep.pipe(Effect.andThen(db<{ key: string }>`SELECT key FROM rate_limits ORDER BY key`)),
          (rows) => rows.map(({ key }) => key).filter((key) => key.startsWith("idle") || key.startsWith("test:idle")),
        )
        yield* limiter.take(policy, "idle")
        yield* db`
          INSERT INTO rate_limits (key, hits, idle_from)
          SELECT 'idle:' || n, '{}', '1969-01-01' FROM generate_series(1, 2500) AS n`
        assert.deepStrictEqual(yield* kept, ["test:idle"])
        yield* TestClock.adjust("23 hours")
        yield* TestClock.adjust("3599 seconds")
        assert.deepStrictEqual(yield* kept, ["test:idle"])
        // It is kept for up to two steps of ten minutes more, by where between two steps it was used.
        yield* TestClock.adjust("1201 seconds")
        assert.deepStrictEqual(yield* kept, [])
        const [table] = yield* db`SELECT relpersistence::text AS how FROM pg_class WHERE relname = 'rate_limits'`
        assert.deepStrictEqual(table, { how: "u" })
      }),
    )

    it.effect("shows the remaining quota without using any", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const [one, other] = [randomUUID(), randomUUID()]
        const left = (key: string) => Effect.map(limiter.peek(policy, key), (found) => headersOf(found).ratelimit)
        yield* Effect.flatMap(Clock.currentTimeMillis, setDatabaseTime)
        for (const _ of [1, 2, 3]) yield* limiter.take(policy, one)
        for (const _ of [1, 2]) assert.strictEqual(yield* left(one), '"short";r=0;t=10, "long";r=2;t=60')
        assert.strictEqual(yield* left(other), '"short";r=3;t=0, "long";r=5;t=0')
      }),
    )
  })
})
