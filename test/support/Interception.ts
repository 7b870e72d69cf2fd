/** A message that a proxy holds back: the test learns that it came and says whether it goes on or is lost. */
import { Effect } from "effect"
import { patience } from "./Patience.ts"

/** The test's side of a trap. */
export interface Interception {
  /** Waits until something was caught. */
  readonly arrived: Effect.Effect<void>
  /** Lets what was caught go on, and everything after it. */
  readonly release: Effect.Effect<void>
  /** Destroys what was caught; what comes after it goes on. */
  readonly discard: Effect.Effect<void>
}

/** The proxy's side: `caught` reports an arrival and answers how it goes on. */
export interface InterceptionControl extends Interception {
  readonly caught: () => Promise<"release" | "discard">
}

export const make = (name: string): InterceptionControl => {
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
