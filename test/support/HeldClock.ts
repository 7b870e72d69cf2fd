/** A clock that stands where a test puts it; whoever waits takes real time. */
import { Clock, Effect } from "effect"

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
