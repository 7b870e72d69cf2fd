/** Shared runs: nobody gets an answer older than the question, whoever comes, leaves or fails meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Gather from "../../src/platform/Gather.ts"

/** What one reader does: asks for a name at a millisecond, and perhaps leaves some milliseconds later. */
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

class Failed {
  readonly run: Run
  constructor(run: Run) {
    this.run = run
  }
}

describe("a run that is shared", () => {
  it.effect.prop("began after each of its readers had asked, one at a time for each name", [World], ([world]) =>
    Effect.gen(function* () {
      let steps = 0
      const began: Array<Run> = []
      const running = new Map<string, number>()
      const ask = yield* Gather.shared({
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
            return fails ? yield* Effect.fail(new Failed(run)) : run
          }),
      })
      const readers = yield* Effect.forEach(world.readers, ({ at, leavesAfter, name }) =>
        Effect.forkChild(
          Effect.gen(function* () {
            yield* Effect.sleep(at)
            const asked = (steps += 1)
            const reading = ask(name).pipe(
              Effect.match({ onFailure: ({ run }) => run, onSuccess: (run) => run }),
              Effect.map((run) => ({ asked, run })),
            )
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
        assert.isAbove(run.began, asked, "an answer older than its question")
      }
    }).pipe(Effect.scoped),
  )

  it.effect("serves all who ask while one runs by the next, and goes on when a reader leaves", () =>
    Effect.gen(function* () {
      let runs = 0
      const gates = yield* Effect.forEach([0, 1, 2], () => Deferred.make<void>())
      const ask = yield* Gather.shared({
        nameOf: (name: string) => name,
        run: () => {
          const number = (runs += 1)
          return Effect.as(Deferred.await(gates[number - 1] ?? Deferred.makeUnsafe<void>()), number)
        },
      })
      const first = yield* Effect.forkChild(ask("one"))
      yield* TestClock.adjust(1)
      const later = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.forkChild(ask("one")))
      yield* TestClock.adjust(1)
      const [leaves, ...stay] = later
      if (leaves !== undefined) yield* Fiber.interrupt(leaves)
      yield* Fiber.interrupt(first)
      for (const gate of gates) yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(
        yield* Effect.forEach(stay, Fiber.join),
        Array.from({ length: 49 }, () => 2),
      )
      assert.strictEqual(runs, 2)
      assert.strictEqual(yield* ask("one"), 3)
    }).pipe(Effect.scoped),
  )

  it.effect("fails those alone who waited for it", () =>
    Effect.gen(function* () {
      let runs = 0
      const ask = yield* Gather.shared({
        nameOf: (name: string) => name,
        run: () =>
          Effect.suspend(() => {
            const number = (runs += 1)
            return Effect.delay(number === 1 ? Effect.fail("broken") : Effect.succeed(number), 5)
          }),
      })
      const first = yield* Effect.forkChild(Effect.result(ask("one")))
      yield* TestClock.adjust(1)
      const second = yield* Effect.forkChild(Effect.result(ask("one")))
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(yield* Fiber.join(first), Result.fail("broken"))
      assert.deepStrictEqual(yield* Fiber.join(second), Result.succeed(2))
    }).pipe(Effect.scoped),
  )
})
