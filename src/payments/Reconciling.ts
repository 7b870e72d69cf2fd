/** Who asks how an attempt ended shares one look at it, and until another one is worth its cost, what is stored is the answer. */
import { Deferred, Duration, Effect, Exit } from "effect"
import type { Attempt } from "./ledger/Attempt.ts"

/** Least time between two looks that clients ask for; no `Retry-After` is shorter. */
export const lookEvery = Duration.seconds(2)

/**
 * Asks for a look at an attempt that has just been read, so that what others store meanwhile is told at once. A look
 * belongs to nobody: a client who leaves stops none.
 */
export const make = Effect.fnUntraced(function* (
  look: (attempt: Attempt) => Effect.Effect<Attempt>,
  every: Duration.Duration,
) {
  const scope = yield* Effect.scope
  const looks = new Map<string, Deferred.Deferred<Attempt>>()

  const work = Effect.fnUntraced(function* (attempt: Attempt, done: Deferred.Deferred<Attempt>) {
    const exit = yield* Effect.exit(look(attempt))
    // One that failed has seen nothing, and one that ended it is on disk.
    const rests = Exit.isSuccess(exit) && exit.value.state === "pending" && !Duration.isZero(every)
    if (!rests) looks.delete(attempt.id)
    yield* Deferred.done(done, exit)
    if (!rests) return
    yield* Effect.sleep(every)
    looks.delete(attempt.id)
  })

  return (attempt: Attempt): Effect.Effect<Attempt> =>
    // Between a look and its worker nobody may leave: all who come later would wait for ever.
    Effect.uninterruptibleMask((restore) => {
      if (attempt.state !== "pending") return Effect.succeed(attempt)
      const known = looks.get(attempt.id)
      if (known !== undefined) {
        return Effect.map(restore(Deferred.await(known)), (seen) => (seen.state === "pending" ? attempt : seen))
      }
      const done = Deferred.makeUnsafe<Attempt>()
      looks.set(attempt.id, done)
      return Effect.andThen(Effect.forkIn(work(attempt, done), scope), restore(Deferred.await(done)))
    })
})
