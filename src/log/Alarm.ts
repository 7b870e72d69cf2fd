/** Stops a log before it contradicts itself. The reason stays in the database until an operator acts. */
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { LogStore } from "./LogStore.ts"
import type { StopReason } from "./StopReason.ts"
import { log } from "../platform/LogMessages.ts"

/** Nothing is appended or signed for the given `reason`. Sales continue. */
export class LogStopped extends Schema.TaggedError<LogStopped>()("LogStopped", { reason: Schema.String }) {}

/** Stops the log and raises the alarm once, even if the same fault is found repeatedly. */
export const stopped = (
  store: LogStore["Service"],
  reason: StopReason,
): Effect.Effect<never, LogStopped | SqlError.SqlError> =>
  store.stop(reason).pipe(
    Effect.tap((isFirst) => (isFirst ? log("log stopped", { code: reason.code, reason: reason.detail }) : Effect.void)),
    Effect.andThen(Effect.fail(new LogStopped({ reason: reason.detail }))),
  )
