/** A trouble that lasts is logged when it begins, for each other reason, and once an hour. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as DatabaseWatch from "../../src/platform/DatabaseWatch.ts"

const capturing = Effect.sync(() => {
  const lines: Array<unknown> = []
  const logger = Logger.make<unknown, void>(
    ({ message }) => void lines.push(Array.isArray(message) ? message[0] : message),
  )
  return { lines, logs: Logger.layer([logger]) }
})

describe("a sweep", () => {
  it.effect("that fails for three hours logs four lines, whatever number its reason has", () =>
    Effect.gen(function* () {
      const { lines, logs } = yield* capturing
      let runs = 0
      const sweep = Effect.suspend(() => Effect.die(new Error(`block ${(runs += 1)} of 0xab${runs} is missing`)))
      yield* DatabaseWatch.sweeping(sweep, "10 seconds", "sweep failed").pipe(Effect.provide(logs))
      yield* TestClock.adjust("10790 seconds")
      assert.isAbove(runs, 1_000)
      assert.deepStrictEqual(lines, ["sweep failed", "sweep failed", "sweep failed"])
      yield* TestClock.adjust("20 seconds")
      assert.lengthOf(lines, 4)
    }).pipe(Effect.scoped),
  )

  it.effect("that fails for another reason, or again after a success, logs another line", () =>
    Effect.gen(function* () {
      const { lines, logs } = yield* capturing
      let reason: string | undefined = "no node"
      const sweep = Effect.suspend(() => (reason === undefined ? Effect.succeed(0) : Effect.die(new Error(reason))))
      yield* DatabaseWatch.sweeping(sweep, "1 second", "sweep failed").pipe(Effect.provide(logs))
      const after = (next: string | undefined) =>
        Effect.suspend(() => ((reason = next), Effect.as(TestClock.adjust("5 seconds"), lines)))
      assert.lengthOf(yield* after("no node"), 1)
      assert.lengthOf(yield* after("no gas"), 2)
      assert.lengthOf(yield* after("no node"), 2)
      yield* after(undefined)
      assert.lengthOf(yield* after("no gas"), 3)
    }).pipe(Effect.scoped),
  )
})
