/** Time as tests have it: a clock that stands, one that is put forward, and the day that a test and its server agree on. */
import { Clock, Context, Effect, Layer } from "effect"
import { patience } from "./Patience.ts"

/** A clock by these milliseconds since 1970; waits take real time. */
const clockBy = (millis: () => number) =>
  Effect.map(Clock.Clock, (real): Clock.Clock => {
    const nanos = () => BigInt(millis()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: real.monotonicTimeNanos,
      sleep: (duration) => real.sleep(duration),
    }
  })

export type HeldClock = Effect.Success<typeof heldClock>

/** A clock that stands, at this moment until it is put elsewhere. */
export const heldClock = Effect.suspend(() => {
  let now = Date.now()
  const put = (millis: number) => void (now = millis)
  return Effect.map(
    clockBy(() => now),
    (clock) => ({ clock, put }),
  )
})

/** The clock of a fixture, which a test can put forward. */
class FixtureClock extends Context.Service<FixtureClock, { readonly advance: (millis: number) => void }>()(
  "test/FixtureClock",
) {}

/** The fixture on a clock of its own. Between two steps of `pass` it goes as the machine's does. */
export const onOwnClock = <A, E, R>(fixture: Layer.Layer<A, E, R>) => {
  const made = Effect.suspend(() => {
    let ahead = 0
    const advance = (by: number) => void (ahead += by)
    return Effect.map(
      clockBy(() => Date.now() + ahead),
      (clock) => Context.add(Context.make(FixtureClock, { advance }), Clock.Clock, clock),
    )
  })
  return Layer.provideMerge(fixture, Layer.effectContext(made))
}

/** Puts the fixture's clock forward. */
export const pass = (millis: number) => Effect.map(FixtureClock, ({ advance }) => advance(millis))

const dayMillis = 86_400_000

/** Today's date. A day that ends before the test has is not begun: midnight is waited for. */
export const today = Effect.gen(function* () {
  const left = () => dayMillis - (Date.now() % dayMillis)
  while (left() < patience(30)) yield* Effect.sleep(left())
  return new Date().toISOString().slice(0, 10)
})
