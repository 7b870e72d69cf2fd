/** The `fetch` of commands: prints the altar's name before the first request, and waits for a starting altar. */
import { Clock, Console, Effect, type FileSystem, Option, type Path, Result, Schema } from "effect"
import { processesHere } from "../../sandbox/DataFolder.ts"

/** Longer than a first start takes, shorter than the timeout of a request. */
const patienceMs = 45_000

const isStarting = Schema.is(Schema.Struct({ state: Schema.Literal("starting") }))

/** The answer, or the error of `fetch` itself. */
const send = (input: RequestInfo | URL, init: RequestInit | undefined) =>
  Effect.promise(() =>
    fetch(input instanceof Request ? input.clone() : input, { ...init, redirect: "error" }).then(
      (response) => Result.succeed(response),
      (cause: unknown) => Result.fail(cause),
    ),
  )

/** Whether the server is starting; one that runs reports that it is up or degraded. */
const saysStarting = (origin: string) =>
  Effect.tryPromise((signal) =>
    fetch(`${origin}/readyz`, { redirect: "error", signal }).then((told) => told.json()),
  ).pipe(
    Effect.timeout("10 seconds"),
    Effect.map(isStarting),
    Effect.orElseSucceed(() => false),
  )

/** Whether the sandbox of this folder runs at this origin, maybe before its port is open. */
const isOwn = (origin: string) =>
  Effect.map(
    processesHere,
    Option.exists(({ url }) => new URL(url).origin === origin),
  )

/** Each use names an altar once. */
export const altarFetch = Effect.gen(function* () {
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const named = new Set<string>()

  const attempt = Effect.fnUntraced(function* (input: RequestInfo | URL, init: RequestInit | undefined) {
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    if (!named.has(origin)) yield* Console.error(`altar       ${origin}`)
    named.add(origin)
    const began = yield* Clock.currentTimeMillis
    for (let isTold = false; ; isTold = true) {
      const answer = yield* send(input, init)
      const isLater = Result.isSuccess(answer)
        ? // A running altar never answers this path with 503.
          answer.success.status === 503 && (pathname.endsWith("/sandbox") || (yield* saysStarting(origin)))
        : yield* isOwn(origin)
      if (!isLater || (yield* Clock.currentTimeMillis) - began > patienceMs) return answer
      if (!isTold) yield* Console.error(`waiting     ${origin} is starting; trying again for ${patienceMs / 1000} s`)
      yield* Effect.sleep("1 second")
    }
  })

  const asked: typeof fetch = (input, init) =>
    Effect.runPromiseWith(context)(attempt(input, init), { signal: init?.signal ?? undefined }).then((answer) =>
      Result.isSuccess(answer) ? answer.success : Promise.reject(answer.failure),
    )
  return asked
})
