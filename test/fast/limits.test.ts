/** A limit in memory, to the millisecond: when it gives way again, what it says until then, and what it forgets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import * as MemoryLimiter from "../../src/limits/MemoryLimiter.ts"
import { headersOf, type Policy } from "../../src/limits/Policy.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"

const policy: Policy = {
  name: "send",
  windows: [
    { name: "minute", quota: 2, seconds: 60, says: "2 sends per minute" },
    { name: "hour", quota: 3, seconds: 3_600, says: "3 sends per hour" },
  ],
}

const taken = Effect.flatMap(RateLimiter, (limiter) => Effect.result(limiter.take(policy, "somebody")))
const accepted = Effect.map(taken, Result.isSuccess)
const retryAfter = Effect.map(
  taken,
  Result.match({ onSuccess: () => assert.fail("accepted"), onFailure: (refusal) => refusal.retryAfter }),
)

describe("a limit of two a minute and three an hour", () => {
  it.effect("takes the third request a minute after the first one, and not a millisecond before", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* accepted)
      yield* TestClock.adjust("20 seconds")
      assert.isTrue(yield* accepted)
      yield* TestClock.adjust("39999 millis")
      assert.strictEqual(yield* retryAfter, 1)
      yield* TestClock.adjust("1 millis")
      assert.isTrue(yield* accepted)
    }).pipe(Effect.provide(MemoryLimiter.layer)),
  )

  it.effect("says the whole seconds after which the same request is accepted, by the window that takes longest", () =>
    Effect.gen(function* () {
      yield* taken
      yield* TestClock.adjust("500 millis")
      yield* taken
      assert.strictEqual(yield* retryAfter, 60)
      yield* TestClock.adjust("60 seconds")
      assert.isTrue(yield* accepted)
      // Three in this hour: the first one leaves it 3 539.5 seconds from now.
      assert.strictEqual(yield* retryAfter, 3_540)
      yield* TestClock.adjust("3539 seconds")
      assert.strictEqual(yield* retryAfter, 1)
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* accepted)
    }).pipe(Effect.provide(MemoryLimiter.layer)),
  )

  it.effect("is not moved by what it refuses", () =>
    Effect.gen(function* () {
      yield* taken
      yield* taken
      for (const seconds of [60, 50, 40, 30, 20, 10]) {
        assert.strictEqual(yield* retryAfter, seconds)
        yield* TestClock.adjust("10 seconds")
      }
      assert.isTrue(yield* accepted)
    }).pipe(Effect.provide(MemoryLimiter.layer)),
  )

  it.effect("counts everybody by themselves, and shows what is left without taking it", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      yield* taken
      yield* taken
      assert.strictEqual(
        headersOf(yield* limiter.look(policy, "somebody")).ratelimit,
        '"minute";r=0;t=60, "hour";r=1;t=3600',
      )
      assert.strictEqual(
        headersOf(yield* limiter.look(policy, "somebody else")).ratelimit,
        '"minute";r=2;t=0, "hour";r=3;t=0',
      )
    }).pipe(Effect.provide(MemoryLimiter.layer)),
  )

  it.effect("is forgotten 24 hours after its last request, and not before", () =>
    Effect.gen(function* () {
      const { sweep } = yield* RateLimiter
      // A second past the sweeps that it makes by itself, every five minutes from its start on.
      yield* TestClock.adjust("1 second")
      yield* taken
      yield* TestClock.adjust("86399999 millis")
      assert.strictEqual(yield* sweep, 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* sweep, 1)
    }).pipe(Effect.provide(MemoryLimiter.layer)),
  )
})
