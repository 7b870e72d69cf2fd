/** A wait between runs of a loop that a signal ends early. */
import { type Duration, Effect, Latch } from "effect"

export interface Wake {
  /** Ends the current wait, or the next one if there is none. */
  readonly ring: Effect.Effect<void>
  /** Returns after a signal or after `atMost`. */
  readonly rest: (atMost: Duration.Input) => Effect.Effect<void>
}

export const make: Effect.Effect<Wake> = Effect.map(Latch.make(false), (latch) => ({
  ring: Effect.asVoid(latch.open),
  rest: (atMost) => latch.await.pipe(Effect.timeoutOption(atMost), Effect.andThen(latch.close), Effect.asVoid),
}))
