/** What is started over when the database asks for it: a whole transaction, at most eight times, each after a longer wait. */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Fiber, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { inBatches, retryConflicts, transaction } from "../../src/platform/Sql.ts"

const serialization = new SqlError.SqlError({ reason: new SqlError.SerializationError({ cause: "40001" }) })
const deadlock = new SqlError.SqlError({ reason: new SqlError.DeadlockError({ cause: "40P01" }) })
const unique = new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ cause: "23505", constraint: "keys" }) })

/** A database that only listens, and whose answer to a statement may be a script of refusals. */
const listening = (refusals?: Script) => Effect.provide(listen(refusals), Reactivity.layer)

/** The refusals of each statement, in their order. */
type Script = Readonly<Record<string, ReadonlyArray<SqlError.SqlError>>>

const listen = Effect.fnUntraced(function* (refusals: Script = {}) {
  const heard: Array<string> = []
  const heardAt: Array<number> = []
  const answer = (statement: string) =>
    Effect.clockWith((clock) => {
      heardAt.push(clock.currentTimeMillisUnsafe())
      const before = heard.filter((one) => one === statement).length
      heard.push(statement)
      const refusal = refusals[statement]?.[before]
      return refusal === undefined ? Effect.succeed([]) : Effect.fail(refusal)
    })
  const connection: SqlConnection.Connection = {
    execute: answer,
    executeRaw: answer,
    executeStream: (statement) => Stream.fromEffectDrain(answer(statement)),
    executeValues: answer,
    executeValuesUnprepared: answer,
    executeUnprepared: answer,
  }
  const sql = yield* SqlClient.make({
    acquirer: Effect.succeed(connection),
    compiler: PgClient.makeCompiler(),
    driver: "scripted",
    spanAttributes: [],
  })
  return { heard, heardAt, sql }
})

const times = <A>(count: number, one: A): ReadonlyArray<A> => Array.from({ length: count }, () => one)

const transactionOf = (sql: SqlClient.SqlClient) =>
  Effect.runSync(Effect.provideService(transaction, SqlClient.SqlClient, sql))

/** Runs it with as much time as it asks for. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Effect.exit(Fiber.join(fiber))
  })

describe("a transaction", () => {
  for (const [name, conflict] of [
    ["40001", serialization],
    ["40P01", deadlock],
  ] as const) {
    it.effect(`that meets ${name} is rolled back and run again as a whole`, () =>
      Effect.gen(function* () {
        const { heard, sql } = yield* listening({ second: [conflict] })
        const exit = yield* inTime(transactionOf(sql)(Effect.andThen(sql`first`, sql`second`)))
        assert.isTrue(Exit.isSuccess(exit))
        assert.deepStrictEqual(heard, ["BEGIN", "first", "second", "ROLLBACK", "BEGIN", "first", "second", "COMMIT"])
      }),
    )
  }

  it.effect("whose COMMIT is refused for a conflict is run again as a whole", () =>
    Effect.gen(function* () {
      const { heard, sql } = yield* listening({ COMMIT: [serialization] })
      assert.isTrue(Exit.isSuccess(yield* inTime(transactionOf(sql)(sql`first`))))
      assert.deepStrictEqual(
        heard.filter((statement) => statement !== "ROLLBACK"),
        ["BEGIN", "first", "COMMIT", "BEGIN", "first", "COMMIT"],
      )
    }),
  )

  it.effect("that meets anything else is rolled back once and fails with it", () =>
    Effect.gen(function* () {
      const { heard, sql } = yield* listening({ first: [unique] })
      assert.deepStrictEqual(yield* Effect.flip(transactionOf(sql)(sql`first`)), unique)
      assert.deepStrictEqual(heard, ["BEGIN", "first", "ROLLBACK"])
    }),
  )
})

describe("a statement that meets one conflict after the other", () => {
  it.effect("is run nine times in all, and fails with the last of them", () =>
    Effect.gen(function* () {
      const { heard, sql } = yield* listening({ first: times(20, serialization) })
      const fiber = yield* Effect.forkChild(Effect.flip(retryConflicts(sql`first`)))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(fiber), serialization)
      assert.lengthOf(heard, 9)
    }),
  )

  it.effect("waits 5 ms and then twice as long each time, a fifth more or less", () =>
    Effect.gen(function* () {
      const { heardAt, sql } = yield* listening({ first: times(8, deadlock) })
      const fiber = yield* Effect.forkChild(retryConflicts(sql`first`))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      const pauses = heardAt.slice(1).map((at, index) => at - (heardAt[index] ?? 0))
      assert.lengthOf(pauses, 8)
      for (const [index, pause] of pauses.entries()) {
        const meant = 5 * 2 ** index
        assert.isAtLeast(pause, Math.floor(meant * 0.8))
        assert.isAtMost(pause, Math.ceil(meant * 1.2))
      }
    }),
  )
})

describe("work in batches", () => {
  it.effect("goes on until a batch is not full, and says how many rows it changed", () =>
    Effect.gen(function* () {
      const found = [3, 3, 2, 3]
      const statement = Effect.sync(() => times(found.shift() ?? 0, {}))
      assert.strictEqual(yield* inBatches(3, statement), 8)
      assert.deepStrictEqual(found, [3])
    }),
  )
})
