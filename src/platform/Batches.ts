/** Requests that wait at the same time share one statement: under load a round trip and a commit serve many of them. */
import { Deferred, Effect } from "effect"
import { isRefused } from "./Sql.ts"

export interface Batching<Request, Answer, E> {
  /** Whom a request is for, or the rows it locks: a batch that forms takes at most `most` of each. */
  readonly keysOf: (request: Request) => ReadonlyArray<string>
  /** 1 where absent. */
  readonly most?: number
  /** Answers in the order of the requests. */
  readonly run: (requests: ReadonlyArray<Request>) => Effect.Effect<ReadonlyArray<Answer>, E>
}

/** Statements under way at once; who comes meanwhile forms the next batch. */
const width = 2
const size = 64

/**
 * The first request runs at once, so an idle server adds no wait. A request whose key has its share of the batch that
 * forms runs by itself, so that nobody waits behind the many requests of one caller.
 */
export const make = Effect.fnUntraced(function* <Request, Answer, E>({
  keysOf,
  most = 1,
  run,
}: Batching<Request, Answer, E>) {
  const scope = yield* Effect.scope
  const full: Array<Array<readonly [Request, Deferred.Deferred<Answer, E>]>> = []
  let forming: (typeof full)[number] = []
  let keys = new Map<string, number>()
  let running = 0

  const formed = () => {
    const batch = forming
    forming = []
    keys = new Map()
    return batch
  }

  const alone = (request: Request) =>
    Effect.flatMap(run([request]), ([answer]) =>
      answer === undefined ? Effect.die("a batch left a request unanswered") : Effect.succeed(answer),
    )

  /**
   * One request that cannot be served must not fail its neighbours. Unless the database itself refused it, a batch may
   * have been committed, and is not run again.
   */
  const runBatch = (batch: typeof forming): Effect.Effect<void> =>
    run(batch.map(([request]) => request)).pipe(
      Effect.matchCauseEffect({
        onSuccess: (answers) =>
          Effect.forEach(
            batch,
            ([, done], index) => {
              const answer = answers[index]
              return answer === undefined
                ? Deferred.die(done, "a batch left a request unanswered")
                : Deferred.succeed(done, answer)
            },
            { discard: true },
          ),
        onFailure: (cause) =>
          batch.length > 1 && isRefused(cause)
            ? Effect.forEach(batch, ([request, done]) => Deferred.into(alone(request), done), { discard: true })
            : Effect.forEach(batch, ([, done]) => Deferred.failCause(done, cause), { discard: true }),
      }),
    )

  const work: Effect.Effect<void> = Effect.suspend(() => {
    const batch = full.shift() ?? formed()
    if (batch.length > 0) return Effect.andThen(runBatch(batch), work)
    running -= 1
    return Effect.void
  })

  // Between a place in the batch and its worker nobody may leave: the batch would wait for ever.
  return (request: Request): Effect.Effect<Answer, E> =>
    Effect.uninterruptibleMask((restore) => {
      const own = keysOf(request)
      if (own.some((key) => (keys.get(key) ?? 0) >= most)) return restore(alone(request))
      const done = Deferred.makeUnsafe<Answer, E>()
      forming.push([request, done])
      for (const key of own) keys.set(key, (keys.get(key) ?? 0) + 1)
      if (forming.length === size) full.push(formed())
      if (running >= width) return restore(Deferred.await(done))
      running += 1
      return Effect.andThen(Effect.forkIn(work, scope), restore(Deferred.await(done)))
    })
})
