/** Waits for an event by asking again and again, and fails by its name when the patience ends. */
import { Effect, Schedule } from "effect"
import { patience } from "./Patience.ts"

/** Repeats an effect until its answer is so; `why` is what a failure says after these seconds of a quiet machine. */
export const until =
  <A>(why: string, isSo: (answer: A) => boolean, seconds = 30, everyMillis = 50) =>
  <E, R>(look: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    look.pipe(
      Effect.repeat({ until: isSo, schedule: Schedule.spaced(everyMillis) }),
      Effect.timeoutOrElse({ duration: patience(seconds), orElse: () => Effect.die(why) }),
    )

/** The same, with the pause that the limit of an address asks for. */
export const eventually = <A, E, R>(what: string, look: Effect.Effect<A, E, R>, isSo: (answer: A) => boolean) =>
  until<A>(`never ${what}`, isSo, 40, 100)(look)
