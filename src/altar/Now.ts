/** The present in the form that records carry. */
import { Clock, Effect } from "effect"
import { timestampOf } from "../payments/Attempt.ts"

/** RFC 3339 UTC with milliseconds, from Effect's clock. */
export const now = Effect.map(Clock.currentTimeMillis, timestampOf)
