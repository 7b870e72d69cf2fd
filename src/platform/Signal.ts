/** A wait between runs of a loop that a signal ends early. */
import { type Duration, Effect, Latch } from "effect"

export interface Signal {
  /** Ends the current wait, or the next one if there is none. */
  readonly notify: Effect.Effect<void>
  /** Returns after a signal or after `atMost`. */
  readonly wait: (atMost: Duration.Input) => Effect.Effect<void>
}

export const make: Effect.Effect<Signal> = Effect.map(Latch.make(false), (latch) => ({
  notify: Effect.asVoid(latch.open),
  wait: (atMost) => latch.await.pipe(Effect.timeoutOption(atMost), Effect.andThen(latch.close), Effect.asVoid),
}))
