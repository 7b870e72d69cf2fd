/** Time as tests have it: a clock that stands, one that is put forward, and the day that a test and its server agree on. */
import { Clock, Context, Effect, Layer } from "effect"
import { patience } from "./Patience.ts"

/** A clock that stands; waits take real time. */
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

/** The clock of a fixture, which a test can put forward. */
class FixtureClock extends Context.Service<FixtureClock, { readonly advance: (millis: number) => void }>()(
  "test/FixtureClock",
) {}

/** The fixture on a clock of its own. Between two steps of `pass` it goes as the machine's does. */
export const onOwnClock = <A, E, R>(fixture: Layer.Layer<A, E, R>) =>
  Layer.provideMerge(
    fixture,
    Layer.effectContext(
      Effect.map(heldClock, ({ clock: held }) => {
        let ahead = 0
        const millis = () => Date.now() + ahead
        const nanos = () => BigInt(millis()) * 1_000_000n
        const clock: Clock.Clock = {
          ...held,
          currentTimeMillisUnsafe: millis,
          currentTimeMillis: Effect.sync(millis),
          currentTimeNanosUnsafe: nanos,
          currentTimeNanos: Effect.sync(nanos),
        }
        const advance = (by: number) => void (ahead += by)
        return Context.add(Context.make(FixtureClock, { advance }), Clock.Clock, clock)
      }),
    ),
  )

/** Puts the fixture's clock forward. */
export const pass = (millis: number) => Effect.map(FixtureClock, ({ advance }) => advance(millis))

const dayMillis = 86_400_000

/** Today's date. A day that ends before the test has is not begun: midnight is waited for. */
export const today = Effect.gen(function* () {
  const left = () => dayMillis - (Date.now() % dayMillis)
  while (left() < patience(30)) yield* Effect.sleep(left())
  return new Date().toISOString().slice(0, 10)
})
