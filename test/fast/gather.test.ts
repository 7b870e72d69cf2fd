/** Shared statements: what the database refused is tried alone, what may have been committed is not tried again. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Gather from "../../src/platform/Gather.ts"
import { bounded, isAway, isRefused } from "../../src/platform/Sql.ts"

const coded = (code: string) => ({ cause: Object.assign(new Error(code), { code }), operation: "query" })

const refused = new SqlError.SqlError({ reason: new SqlError.ConstraintError(coded("23514")) })

/** Two occupy the database while two more gather; how the two end, and which runs there were. */
const gathered = Effect.fnUntraced(function* (error: unknown) {
  const runs: Array<ReadonlyArray<string>> = []
  const gate = yield* Deferred.make<void>()
  const ask = yield* Gather.make({
    retriesAlone: isRefused,
    run: (names: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        runs.push(names)
        if (names.some((name) => name.startsWith("first"))) return Effect.as(Deferred.await(gate), names)
        return names.length > 1 ? Effect.fail(error) : Effect.succeed(names)
      }),
  })
  const first = yield* Effect.forEach(["first", "first of another"], (name) =>
    Effect.andThen(Effect.forkChild(ask(name)), (fiber) => Effect.as(TestClock.adjust(1), fiber)),
  )
  const fibers = [yield* Effect.forkChild(ask("one")), yield* Effect.forkChild(ask("two"))]
  yield* TestClock.adjust(1)
  yield* Deferred.succeed(gate, undefined)
  for (const fiber of first) yield* Fiber.join(fiber)
  const ends = yield* Effect.forEach(fibers, Fiber.await)
  return { ends, runs: runs.slice(first.length) }
}, Effect.scoped)

describe("requests that share a statement", () => {
  it.effect("are made again alone when the database refused them together", () =>
    Effect.gen(function* () {
      const { ends, runs } = yield* gathered(refused)
      assert.deepStrictEqual(runs, [["one", "two"], ["one"], ["two"]])
      assert.deepStrictEqual(ends, [Exit.succeed("one"), Exit.succeed("two")])
    }),
  )

  it.effect.each([
    ["a connection is lost", new SqlError.SqlError({ reason: new SqlError.ConnectionError(coded("ECONNRESET")) })],
    ["a pipe breaks", new SqlError.SqlError({ reason: new SqlError.UnknownError(coded("EPIPE")) })],
    ["nobody knows why", new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: new Error("?") }) })],
    ["the database shuts down", new SqlError.SqlError({ reason: new SqlError.UnknownError(coded("57P01")) })],
  ] as const)("all fail, and are not made again, when %s", ([, error]) =>
    Effect.gen(function* () {
      const { ends, runs } = yield* gathered(error)
      assert.deepStrictEqual(runs, [["one", "two"]])
      assert.deepStrictEqual(ends, [Exit.fail(error), Exit.fail(error)])
    }),
  )
})

describe("a read without an answer", () => {
  it.effect("counts as a database that is away after ten seconds, and not before", () =>
    Effect.gen(function* () {
      const reading = yield* Effect.forkChild(Effect.exit(bounded(Effect.never)))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(reading.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const end = yield* Fiber.join(reading)
      assert.isTrue(Exit.isFailure(end) && isAway(end.cause) && !Cause.hasInterrupts(end.cause))
    }),
  )
})

describe("a database", () => {
  it.each([
    ["shuts down", "57P01"],
    ["has no connection left", "53300"],
    ["has no room left on its disk", "53100"],
    ["takes no writes, as a standby does", "25006"],
  ])("that %s counts as away", (_, code) => {
    assert.isTrue(isAway(Cause.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError(coded(code)) }))))
  })

  it("that refuses a statement for good does not", () => {
    assert.isFalse(isAway(Cause.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError(coded("23514")) }))))
  })
})
