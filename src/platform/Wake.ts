/** A loop that rests until there is work: it is woken by who knows, and looks by itself for what happened elsewhere. */
import { type Duration, Effect, Latch } from "effect"

export interface Wake {
  /** Ends the rest, or the next one when nobody rests now. */
  readonly ring: Effect.Effect<void>
  /** Returns once it was rung, or after so long. */
  readonly rest: (atMost: Duration.Input) => Effect.Effect<void>
}

export const make: Effect.Effect<Wake> = Effect.map(Latch.make(false), (latch) => ({
  ring: Effect.asVoid(latch.open),
  rest: (atMost) => latch.await.pipe(Effect.timeoutOption(atMost), Effect.andThen(latch.close), Effect.asVoid),
}))
