/** One question for all who ask the same at the same time: a transaction that holds fifty payments has one receipt. */
import { Deferred, Effect } from "effect"

/**
 * Whoever asks while the same question is under way gets its answer, and nothing is remembered after it. An answer may
 * so be as old as one round trip; `ask` has to end by itself, since whoever asked first may have gone.
 */
export const shared = <Question, A, E>(ask: (question: Question) => Effect.Effect<A, E>) => {
  const underWay = new Map<Question, Deferred.Deferred<A, E>>()
  return (question: Question): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const known = underWay.get(question)
      if (known !== undefined) return Deferred.await(known)
      const answer = Deferred.makeUnsafe<A, E>()
      underWay.set(question, answer)
      return ask(question).pipe(
        Effect.onExit(() => Effect.sync(() => underWay.delete(question))),
        Deferred.into(answer),
        Effect.forkDetach,
        Effect.andThen(Deferred.await(answer)),
      )
    })
}
