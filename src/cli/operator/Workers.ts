/** `serve --workers N`: several servers of one machine behind one port; they share only the database. */
import cluster, { type Worker } from "node:cluster"
import { Effect } from "effect"
import { exitsCleanly } from "../ExitCode.ts"
import { CommandFailure } from "../CommandFailure.ts"

/** The environment of one server: the first keeps the given values, each further one gets the next port and file. */
const ownOf = (index: number, { LOG_CHECKPOINT_FILE: file, METRICS_PORT: port }: NodeJS.ProcessEnv) => ({
  ...(index > 0 && file ? { LOG_CHECKPOINT_FILE: `${file}-${index + 1}` } : {}),
  ...(index > 0 && port ? { METRICS_PORT: String(Number(port) + index) } : {}),
})

const exited = (worker: Worker) =>
  Effect.callback<void>((resume) => {
    const done = () => resume(Effect.void)
    if (worker.isDead()) return done()
    worker.once("exit", done)
    return Effect.sync(() => worker.off("exit", done))
  })

/** Runs one server; closing the scope stops it and waits. Returns whether it ever listened. */
const run = Effect.fnUntraced(function* (index: number) {
  let hasListened = false
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => cluster.fork(ownOf(index, process.env)).once("listening", () => (hasListened = true))),
    (one) =>
      Effect.andThen(
        Effect.sync(() => one.process.kill("SIGTERM")),
        exited(one),
      ),
  )
  yield* exited(worker)
  return hasListened
}, Effect.scoped)

/** Replaces a server that listened. One that never did has printed why, and another would fail alike. */
const kept = (index: number): Effect.Effect<never, CommandFailure> =>
  Effect.flatMap(run(index), (hasListened) =>
    hasListened
      ? Effect.andThen(
          Effect.sleep("1 second"),
          Effect.suspend(() => kept(index)),
        )
      : new CommandFailure({ message: "A worker could not start, so none serves." }),
  )

export const working = Effect.fn("working")(function* (workers: number) {
  yield* exitsCleanly
  return yield* Effect.all(
    Array.from({ length: workers }, (_, index) => kept(index)),
    { concurrency: "unbounded" },
  )
})
