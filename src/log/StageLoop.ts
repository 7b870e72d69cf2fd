/** Runs a stage of the log in a loop. Any number of servers may, and none waits for another. */
import { type Cause, Effect, type Scope } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import type { LogMessage } from "../platform/LogMessages.ts"

/** New entries, and another server's progress, are found within this time. */
export const pollInterval = "1 second"
const pauseAfterFailure = "5 seconds"

/** Repeats the work while its scope is open. `what` is the log message of a failure. */
export const repeatStage = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  what: LogMessage,
  rest: Effect.Effect<unknown>,
): Effect.Effect<unknown, never, R | Scope.Scope> =>
  work.pipe(
    Effect.catchCause((cause: Cause.Cause<E>) =>
      Effect.andThen(DatabaseWatch.failed(what)(cause), Effect.sleep(pauseAfterFailure)),
    ),
    Effect.andThen(rest),
    Effect.forever,
    Effect.forkScoped,
  )
