/** Times in the format of records and answers. */
import { Clock, Effect, Fiber } from "effect"

/** Milliseconds since 1970 as RFC 3339 UTC with milliseconds and `Z`. */
export const timestampOf = (millis: number): string => new Date(millis).toISOString()

export const now = Effect.map(Clock.currentTimeMillis, timestampOf)

/** Waits at most 1.5 seconds for an effect. One that hangs may take no interruption, so its caller leaves it alone. */
export const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.forkDetach(effect), (fiber) =>
    Effect.onError(Effect.timeout(Fiber.join(fiber), "1500 millis"), () => Effect.forkDetach(Fiber.interrupt(fiber))),
  )
