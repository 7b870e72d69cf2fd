/** Times in the format of records and answers. */
import { Clock, Effect } from "effect"

/** Milliseconds since 1970 as RFC 3339 UTC with milliseconds and `Z`. */
export const timestampOf = (millis: number): string => new Date(millis).toISOString()

export const now = Effect.map(Clock.currentTimeMillis, timestampOf)
