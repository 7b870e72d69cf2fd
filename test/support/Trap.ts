/** A trap: what passes is caught, the test is told, and nothing caught moves on before the test says how. */
import { Effect } from "effect"
import { patience } from "./Patience.ts"

/** The test's side of a trap. */
export interface Trap {
  /** Waits until something was caught. */
  readonly arrived: Effect.Effect<void>
  /** Lets what was caught go on, and everything after it. */
  readonly release: Effect.Effect<void>
  /** Destroys what was caught; what comes after it goes on. */
  readonly discard: Effect.Effect<void>
}

/** The proxy's side: `caught` reports an arrival and answers how it goes on. */
export interface Jaws extends Trap {
  readonly caught: () => Promise<"release" | "discard">
}

export const make = (name: string): Jaws => {
  const arrival = Promise.withResolvers<void>()
  const verdict = Promise.withResolvers<"release" | "discard">()
  return {
    arrived: Effect.promise(() => arrival.promise).pipe(
      Effect.timeoutOrElse({ duration: patience(20), orElse: () => Effect.die(`nothing was caught: ${name}`) }),
    ),
    release: Effect.sync(() => verdict.resolve("release")),
    discard: Effect.sync(() => verdict.resolve("discard")),
    caught: () => {
      arrival.resolve()
      return verdict.promise
    },
  }
}
