/** Inquiries about open attempts: clients share one and cause none too soon, and a sweep waits for none of its payments. */
import { inquiryInterval, shareInquiries } from "../../src/payments/Reconciler.ts"
import * as Sweeps from "../../src/payments/Sweeps.ts"
import { assert, describe, it } from "../lab/It.ts"
import { Duration, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Attempt } from "../../src/payments/store/Attempt.ts"
import { retryAfterSeconds } from "../../src/payments/decision.ts"
import { Due } from "../../src/payments/store/Due.ts"
import type { RailName } from "../../src/payments/Payment.ts"
import { valuesOf } from "../lab/Assertions.ts"

const row = (checks: number) => ({ id: "an attempt", state: "pending", checks }) as Attempt
const settled = { ...row(0), state: "settled" } as Attempt

/** Looks take a second each, and end as they are told. */
const scene = Effect.fnUntraced(function* (...ends: ReadonlyArray<Effect.Effect<Attempt>>) {
  const begun: Array<number> = []
  const ask = yield* shareInquiries(
    ({ checks }) =>
      Effect.suspend(() => {
        const end = ends[begun.length] ?? Effect.succeed(row(checks))
        begun.push(checks)
        return Effect.andThen(Effect.sleep("1 second"), end)
      }),
    inquiryInterval,
  )
  return { ask, begun }
})

describe("an inquiry for clients", () => {
  it.effect("is shared by all callers while it lasts, and separate for another attempt", function* () {
    const { ask, begun } = yield* scene()
    const askers = yield* Effect.forEach([1, 2, 3], (checks) => Effect.forkChild(ask(row(checks))))
    const other = yield* Effect.forkChild(ask({ ...row(9), id: "another" }))
    yield* TestClock.adjust("1 second")
    const answers = yield* Effect.forEach(askers, Fiber.join)
    assert.deepStrictEqual(valuesOf(answers, "checks"), [1, 2, 3])
    yield* Fiber.join(other)
    assert.deepStrictEqual(begun, [1, 9])
  })

  it.effect("is followed by two seconds in which all get the stored state, and no shorter Retry-After", function* () {
    assert.isAtLeast(retryAfterSeconds(0) * 1000, Duration.toMillis(inquiryInterval))
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

  it.effect("continues for the others when its first caller leaves, and tells each its outcome", function* () {
    const { ask, begun } = yield* scene(Effect.succeed(settled))
    const first = yield* Effect.forkChild(ask(row(0)))
    yield* TestClock.adjust("500 millis")
    const others = yield* Effect.forEach([0, 2], (checks) => Effect.forkChild(ask(row(checks))))
    yield* Fiber.interrupt(first)
    yield* TestClock.adjust("500 millis")
    for (const other of others) assert.strictEqual((yield* Fiber.join(other)).state, "settled")
    assert.deepStrictEqual(begun, [0])
  })

  it.effect("fails its waiting callers, and the next caller starts a new one at once", function* () {
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

/** Sweeps each second; an attempt is leased once by its rail, in this order. Returns what was concluded by then. */
const swept = Effect.fnUntraced(function* (
  due: Readonly<Record<RailName, ReadonlyArray<string>>>,
  inquiry: (id: string) => Effect.Effect<unknown>,
) {
  const concluded: Array<string> = []
  const left = { x402: [...due.x402], card: [...due.card] }
  const services = Layer.mock(Due, {
    lease: (rail) =>
      Effect.sync(() => {
        const attempts = left[rail].splice(0, 1).map((id) => ({ id }) as Attempt)
        return { attempts, taken: attempts.length }
      }),
    leaseUnexplained: () => Effect.succeed({ attempts: [], taken: 0 }),
  })
  const conclude = (attempt: Attempt) =>
    Effect.andThen(
      inquiry(attempt.id),
      Effect.sync(() => (concluded.push(attempt.id), attempt)),
    )
  yield* Effect.provide(Sweeps.ofAttempts(conclude, Duration.seconds(1)), services)
  for (const _ of [0, 1, 2]) yield* TestClock.adjust("1 second")
  return concluded
}, Effect.scoped)

it.effect("the sweep of transfers goes on while a card processor hangs", function* () {
  const inquiry = (id: string) => (id === "charge" ? Effect.never : Effect.void)
  assert.deepStrictEqual(yield* swept({ card: ["charge", "later"], x402: ["one", "two"] }, inquiry), ["one", "two"])
})
