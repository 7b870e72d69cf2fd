/** How a stage of the log runs by itself: any number of servers may, and none is waited for. */
import { type Cause, Effect, type Scope } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"

/** What another server did is found within this long; what this one did, at once. */
export const lookEvery = "1 second"
const pauseAfterTrouble = "5 seconds"

/** Repeats the work while its scope is open; `what` says in the log that it failed. */
export const repeating = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  what: string,
  rest: Effect.Effect<unknown>,
): Effect.Effect<unknown, never, R | Scope.Scope> =>
  work.pipe(
    Effect.catchCause((cause: Cause.Cause<E>) =>
      Effect.andThen(DatabaseWatch.failed(what)(cause), Effect.sleep(pauseAfterTrouble)),
    ),
    Effect.andThen(rest),
    Effect.forever,
    Effect.forkScoped,
  )
