/** Clients who ask how an attempt ended: they share one inquiry about it, and none causes another one too soon. */
import { Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Attempt } from "../../src/payments/ledger/Attempt.ts"
import { retryAfterSeconds } from "../../src/payments/protocol/Decision.ts"
import * as SharedInquiries from "../../src/payments/SharedInquiries.ts"
import { assert, describe, effect, valuesOf } from "../lab/Suites.ts"

const row = (checks: number) => ({ id: "an attempt", state: "pending", checks }) as Attempt
const settled = { ...row(0), state: "settled" } as Attempt

/** Looks take a second each, and end as they are told. */
const scene = Effect.fnUntraced(function* (...ends: ReadonlyArray<Effect.Effect<Attempt>>) {
  const begun: Array<number> = []
  const ask = yield* SharedInquiries.make(
    ({ checks }) =>
      Effect.suspend(() => {
        const end = ends[begun.length] ?? Effect.succeed(row(checks))
        begun.push(checks)
        return Effect.andThen(Effect.sleep("1 second"), end)
      }),
    SharedInquiries.inquiryInterval,
  )
  return { ask, begun }
})

describe("an inquiry for clients", () => {
  effect("is shared by all callers while it lasts, and separate for another attempt", function* () {
    const { ask, begun } = yield* scene()
    const askers = yield* Effect.forEach([1, 2, 3], (checks) => Effect.forkChild(ask(row(checks))))
    const other = yield* Effect.forkChild(ask({ ...row(9), id: "another" }))
    yield* TestClock.adjust("1 second")
    const answers = yield* Effect.forEach(askers, Fiber.join)
    assert.deepStrictEqual(valuesOf(answers, "checks"), [1, 2, 3])
    yield* Fiber.join(other)
    assert.deepStrictEqual(begun, [1, 9])
  })

  effect("is followed by two seconds in which clients get the stored state, and no shorter Retry-After", function* () {
    assert.isAtLeast(retryAfterSeconds(0) * 1000, Duration.toMillis(SharedInquiries.inquiryInterval))
    const { ask, begun } = yield* scene()
    const first = yield* Effect.forkChild(ask(row(0)))
    yield* TestClock.adjust("2999 millis")
    yield* Fiber.join(first)
    const meanwhile = yield* Effect.forkChild(ask(row(1)))
    yield* TestClock.adjust("0 millis")
    assert.deepStrictEqual(begun, [0])
    assert.strictEqual((yield* Fiber.join(meanwhile)).checks, 1)
    // Another server has settled it.
    assert.strictEqual((yield* ask(settled)).state, "settled")
    assert.deepStrictEqual(begun, [0])
    yield* TestClock.adjust("1 millis")
    const next = yield* Effect.forkChild(ask(row(2)))
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(next)
    assert.deepStrictEqual(begun, [0, 2])
  })

  effect("continues for the others when its first caller leaves, and tells each its outcome", function* () {
    const { ask, begun } = yield* scene(Effect.succeed(settled))
    const first = yield* Effect.forkChild(ask(row(0)))
    yield* TestClock.adjust("500 millis")
    const others = yield* Effect.forEach([0, 2], (checks) => Effect.forkChild(ask(row(checks))))
    yield* Fiber.interrupt(first)
    yield* TestClock.adjust("500 millis")
    for (const other of others) assert.strictEqual((yield* Fiber.join(other)).state, "settled")
    assert.deepStrictEqual(begun, [0])
  })

  effect("fails its waiting callers, and the next caller starts a new one at once", function* () {
    const { ask, begun } = yield* scene(Effect.die("the database is away"))
    const askers = yield* Effect.forEach([0, 0], (checks) => Effect.forkChild(Effect.exit(ask(row(checks)))))
    yield* TestClock.adjust("1 second")
    for (const asker of askers) assert.isTrue(Exit.isFailure(yield* Fiber.join(asker)))
    const next = yield* Effect.forkChild(ask(row(1)))
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(next)).state, "pending")
    assert.deepStrictEqual(begun, [0, 1])
  })
})
