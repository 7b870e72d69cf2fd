/** Works one at a time. Each is followed by a rest of three times its duration, however it ended. */
import { type Cause, Clock, Effect, Semaphore } from "effect"

/** Works that wait for their turn; with more, a work fails at once. */
export const mostWaiting = 8

export const make = Effect.map(Semaphore.make(1), (turn) => {
  let waiting = 0
  let restsUntil = 0

  const rested = <A, E>(work: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      yield* Effect.sleep(Math.max(0, restsUntil - (yield* Clock.currentTimeMillis)))
      const begun = yield* Clock.currentTimeMillis
      const rest = Effect.map(Clock.currentTimeMillis, (ended) => (restsUntil = ended + 3 * (ended - begun)))
      return yield* Effect.ensuring(work, rest)
    })

  return <A, E>(work: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | "busy" | Cause.TimeoutError> => {
      if (waiting >= mostWaiting) return Effect.fail("busy")
      waiting += 1
      return rested(work).pipe(
        Effect.timeout("10 seconds"),
        turn.withPermits(1),
        Effect.ensuring(Effect.sync(() => (waiting -= 1))),
      )
    })
})
