/** Reports a lasting trouble once for each reason when it begins, and once an hour while it lasts. */
import { Clock, Effect } from "effect"
import { BoundedMap } from "./BoundedMap.ts"

const hour = 3_600_000
const reasonsKept = 32

/** Numbers and hashes in a reason, such as a nonce, which make it no other one. */
const figures = /(?:0x)?[\da-f]*\d[\da-f]*/giu

export const lasting = () => {
  const reported = new BoundedMap<string, number>(reasonsKept)
  return {
    goesOn: (reason: string, report: Effect.Effect<void>): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const kind = reason.replaceAll(figures, "#")
        if (now - (reported.get(kind) ?? -hour) < hour) return Effect.void
        reported.set(kind, now)
        return report
      }),
    ends: Effect.sync(() => reported.clear()),
  }
}
