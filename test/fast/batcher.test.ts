/** Shared statements and shared reads: no answer is older than its question, and no caller is lost with another. */
import { assert, describe, it } from "../lab/It.ts"
import { Cause, Deferred, Effect, Exit, Fiber, Schema } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Batcher from "../../src/platform/Batcher.ts"
import { bounded, isAway, isRefused } from "../../src/platform/Sql.ts"

const coded = (code: string) => ({ cause: Object.assign(new Error(code), { code }), operation: "query" })

const refused = new SqlError.SqlError({ reason: new SqlError.ConstraintError(coded("23514")) })

/** Two occupy the database while two more gather; how the two end, and which runs there were. */
const gathered = Effect.fnUntraced(function* (error: unknown) {
  const runs: Array<ReadonlyArray<string>> = []
  const gate = yield* Deferred.make<void>()
  const ask = yield* Batcher.make({
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

describe("batched requests", () => {
  it.effect("run again alone when the database refused their batch", function* () {
    const { ends, runs } = yield* gathered(refused)
    assert.deepStrictEqual(runs, [["one", "two"], ["one"], ["two"]])
    assert.deepStrictEqual(ends, [Exit.succeed("one"), Exit.succeed("two")])
  })

  it.effect.each([
    ["a connection is lost", new SqlError.SqlError({ reason: new SqlError.ConnectionError(coded("ECONNRESET")) })],
    ["a pipe breaks", new SqlError.SqlError({ reason: new SqlError.UnknownError(coded("EPIPE")) })],
    ["nobody knows why", new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: new Error("?") }) })],
    ["the database shuts down", new SqlError.SqlError({ reason: new SqlError.UnknownError(coded("57P01")) })],
  ] as const)("all fail, and do not run again, when %s", ([, error]) =>
    Effect.gen(function* () {
      const { ends, runs } = yield* gathered(error)
      assert.deepStrictEqual(runs, [["one", "two"]])
      assert.deepStrictEqual(ends, [Exit.fail(error), Exit.fail(error)])
    }),
  )
})

it.effect("a read without an answer counts as an unreachable database after ten seconds, and not before", function* () {
  const reading = yield* Effect.forkChild(Effect.exit(bounded(Effect.never)))
  yield* TestClock.adjust("9 seconds")
  assert.isUndefined(reading.pollUnsafe())
  yield* TestClock.adjust("1 second")
  const end = yield* Fiber.join(reading)
  assert.isTrue(Exit.isFailure(end) && isAway(end.cause) && !Cause.hasInterrupts(end.cause))
})

describe("a database", () => {
  it.each([
    ["shuts down", "57P01"],
    ["has no connection left", "53300"],
    ["has no room left on its disk", "53100"],
    ["takes no writes, as a standby does", "25006"],
  ])("that %s counts as unreachable", (_, code) => {
    assert.isTrue(isAway(Cause.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError(coded(code)) }))))
  })

  it("that rejects a statement for good counts as reachable", () => {
    assert.isFalse(isAway(Cause.fail(new SqlError.SqlError({ reason: new SqlError.UnknownError(coded("23514")) }))))
  })
})

it.effect("300 concurrent requests share few statements, two at a time, and each has its own answer", function* () {
  const sizes: Array<number> = []
  let [running, highest] = [0, 0]
  const ask = yield* Batcher.make({
    run: (numbers: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        sizes.push(numbers.length)
        running += 1
        highest = Math.max(highest, running)
        for (let times = 0; times < 10; times += 1) yield* Effect.yieldNow
        running -= 1
        return numbers
      }),
  })
  const numbers = Array.from({ length: 300 }, (_, index) => index)
  assert.deepStrictEqual(yield* Effect.forEach(numbers, ask, { concurrency: "unbounded" }), numbers)
  assert.deepStrictEqual([highest, Math.max(...sizes)], [2, 64])
  assert.isBelow(sizes.length, 10)
})

/** The steps of one reader: asks for a name at a millisecond, and perhaps leaves some milliseconds later. */
const Reader = Schema.Struct({
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 })),
  name: Schema.Literals(["one", "two"]),
  leavesAfter: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))),
})

const World = Schema.Struct({
  readers: Schema.Array(Reader).check(Schema.isMinLength(1), Schema.isMaxLength(12)),
  /** Milliseconds that the runs take, in turn, and whether they fail. */
  runs: Schema.Array(
    Schema.Struct({ takes: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })), fails: Schema.Boolean }),
  ).check(Schema.isMinLength(1), Schema.isMaxLength(6)),
})

interface Run {
  readonly name: string
  readonly number: number
  readonly began: number
}

it.effect.prop(
  "a shared run is the next one of its name for each reader that asks, and no two of a name overlap",
  [World],
  ([world]) =>
    Effect.gen(function* () {
      let steps = 0
      const began: Array<Run> = []
      const running = new Map<string, number>()
      const ask = yield* Batcher.shared({
        nameOf: (name: string) => name,
        run: (name: string) =>
          Effect.gen(function* () {
            const run: Run = { name, number: began.length, began: (steps += 1) }
            const { fails, takes } = world.runs[run.number % world.runs.length] ?? { fails: false, takes: 1 }
            began.push(run)
            const before = running.get(name) ?? 0
            assert.strictEqual(before, 0, "two runs of one name at once")
            running.set(name, before + 1)
            yield* Effect.sleep(takes)
            running.set(name, 0)
            return fails ? yield* Effect.fail(run) : run
          }),
      })
      const readers = yield* Effect.forEach(world.readers, ({ at, leavesAfter, name }) =>
        Effect.forkChild(
          Effect.gen(function* () {
            yield* Effect.sleep(at)
            const asked = (steps += 1)
            const reading = Effect.map(Effect.catch(ask(name), Effect.succeed), (run) => ({ asked, run }))
            return leavesAfter === null
              ? yield* Effect.asSome(reading)
              : yield* Effect.timeoutOption(reading, leavesAfter)
          }),
        ),
      )
      // The last asks at 30 ms, and waits for the end of one run and for another, of 9 ms each at most.
      for (let millis = 0; millis < 60; millis += 1) yield* TestClock.adjust(1)
      for (const [index, fiber] of readers.entries()) {
        const exit = fiber.pollUnsafe()
        assert.isTrue(exit !== undefined && Exit.isSuccess(exit), `reader ${index} waits for ever, or died`)
        if (exit === undefined || !Exit.isSuccess(exit) || exit.value._tag === "None") continue
        const { asked, run } = exit.value.value
        assert.strictEqual(run.name, world.readers[index]?.name)
        const next = began.find(({ began: start, name }) => name === run.name && start > asked)
        assert.strictEqual(run, next, "the first run that began after the question answers it")
      }
    }).pipe(Effect.scoped),
)
