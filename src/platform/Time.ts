/** Times in the one form that records and answers carry. */
import { Clock, Effect } from "effect"

/** RFC 3339 UTC with milliseconds and `Z`, of milliseconds since 1970. */
export const timestampOf = (millis: number): string => new Date(millis).toISOString()

/** The present, from Effect's clock. */
export const now = Effect.map(Clock.currentTimeMillis, timestampOf)
