/** Pauses that a test need not wait for. */
import { Clock, Duration, Effect } from "effect"

/** Runs on a clock on which a pause of exactly this length takes no time. All other waits take real time. */
export const withoutPausesOf =
  (length: Duration.Input) =>
  <A, E, R>(use: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.Clock, (real) => {
      const skipped = Duration.toMillis(length)
      let ahead = 0
      const now = () => real.currentTimeMillisUnsafe() + ahead
      const clock: Clock.Clock = Object.assign(Object.create(real), {
        currentTimeMillisUnsafe: now,
        currentTimeMillis: Effect.sync(now),
        sleep: (pause: Duration.Duration) =>
          Duration.toMillis(pause) === skipped ? Effect.sync(() => void (ahead += skipped)) : real.sleep(pause),
      })
      return Effect.provideService(use, Clock.Clock, clock)
    })
