/** Time as tests have it: a clock that stands where it is put, and the day that a test and its server agree on. */
import { Clock, Effect } from "effect"
import { patience } from "./Patience.ts"

/** A clock that stands; whoever waits takes real time. */
export interface HeldClock {
  readonly clock: Clock.Clock
  /** Milliseconds since 1970. */
  readonly put: (millis: number) => void
}

/** It stands at this moment. */
export const heldClock: Effect.Effect<HeldClock> = Effect.map(Clock.Clock, (real) => {
  let now = Date.now()
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration),
  }
  return { clock, put: (millis) => void (now = millis) }
})

const dayMillis = 86_400_000

/** Today's date. A day that ends before the test has is not begun: midnight is waited for. */
export const today = Effect.gen(function* () {
  const left = () => dayMillis - (Date.now() % dayMillis)
  while (left() < patience(30)) yield* Effect.sleep(left())
  return new Date().toISOString().slice(0, 10)
})
