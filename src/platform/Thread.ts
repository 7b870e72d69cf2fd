/** Runs a program in a thread that starts on demand, so that its work does not block requests. */
import { Worker } from "node:worker_threads"
import { Deferred, Duration, Effect, Exit, RcRef, Schema } from "effect"
import { packageRoot } from "./PackageRoot.ts"

/** The thread ended or timed out. Its pending questions fail, and the next one starts a new thread. */
export class ThreadEnded extends Schema.TaggedError<ThreadEnded>()("ThreadEnded", { cause: Schema.Defect() }) {}

/** The default timeout, far longer than any answer takes. */
const longest = Duration.minutes(1)

/** A thread takes some megabytes. */
const idle = Duration.minutes(1)

const start = <Question, Answer>(program: URL) =>
  Effect.gen(function* () {
    const asked: Array<Deferred.Deferred<Answer, ThreadEnded>> = []
    let ended: ThreadEnded | undefined
    const worker = yield* Effect.acquireRelease(
      // The system may be out of resources.
      Effect.try({ try: () => new Worker(program), catch: (cause) => new ThreadEnded({ cause }) }),
      (worker) => Effect.promise(() => worker.terminate()),
    )
    const end = (cause: unknown) => {
      ended ??= new ThreadEnded({ cause })
      for (const one of asked.splice(0)) Deferred.doneUnsafe(one, Exit.fail(ended))
    }
    worker.unref()
    worker.on("message", (answer: Answer) => {
      const first = asked.shift()
      if (first !== undefined) Deferred.doneUnsafe(first, Exit.succeed(answer))
    })
    worker.on("error", end)
    worker.on("exit", (code) => end(new Error(`it ended with ${code}`)))
    return (question: Question) =>
      Effect.suspend(() => {
        if (ended !== undefined) return Effect.fail(ended)
        const done = Deferred.makeUnsafe<Answer, ThreadEnded>()
        asked.push(done)
        worker.postMessage(question, [])
        return Deferred.await(done)
      })
  })

/** The built program of a thread, from `src/build/build.ts`. */
export const programOf = (name: string) => new URL(`dist/server/${name}.js`, packageRoot)

/**
 * Asks the thread of a program. The first question starts it, and it ends a minute after the last one or with the
 * scope. One without an answer within `patience` is terminated.
 */
export const make = Effect.fnUntraced(function* <Question, Answer>(program: URL, patience = longest) {
  const thread = yield* RcRef.make({ acquire: start<Question, Answer>(program), idleTimeToLive: idle })
  return (question: Question): Effect.Effect<Answer, ThreadEnded> =>
    Effect.scoped(Effect.flatMap(RcRef.get(thread), (ask) => ask(question))).pipe(
      Effect.timeout(patience),
      Effect.catchTag("TimeoutError", (cause) => Effect.fail(new ThreadEnded({ cause }))),
      Effect.tapError(() => RcRef.invalidate(thread)),
    )
})
