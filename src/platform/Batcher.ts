/** Collects concurrent requests and runs them together: equal requests share one answer, different ones share a batch. */
import { type Cause, Deferred, Effect } from "effect"
import * as Trace from "./Trace.ts"

export interface BatcherOptions<Request, Answer, E> {
  /** Answers in the order of the requests. */
  readonly run: (requests: ReadonlyArray<Request>) => Effect.Effect<ReadonlyArray<Answer>, E>
  /** Requests of one name share an answer. Each name has its own lane, by default with one run at a time. */
  readonly nameOf?: (request: Request) => string
  /** Requests of other lanes neither join a batch nor wait for it. */
  readonly laneOf?: (request: Request) => string
  /** Callers, or rows that a request locks. A batch takes at most `share` requests of each key. */
  readonly keysOf?: (request: Request) => ReadonlyArray<string>
  /** Defaults to 1. */
  readonly share?: number
  /** Maximum weight of one batch; defaults to 64. */
  readonly size?: number
  /** Defaults to 1. */
  readonly weightOf?: (request: Request) => number
  /** Maximum runs in flight in each lane. */
  readonly width?: number
  /** Lets requests of the same moment join before a run starts. Otherwise an idle engine starts at once. */
  readonly joins?: boolean
  /** Whether a batch with this failure changed nothing, so that each of its requests runs again separately. */
  readonly retriesAlone?: (cause: Cause.Cause<E>) => boolean
}

interface Waiting<Request, Answer, E> {
  readonly request: Request
  readonly done: Deferred.Deferred<Answer, E>
}

class Lane<Request, Answer, E> {
  readonly full: Array<Array<Waiting<Request, Answer, E>>> = []
  forming: Array<Waiting<Request, Answer, E>> = []
  weight = 0
  shares = new Map<string, number>()
  /** Workers, and those that have not taken a batch yet. */
  workers = 0
  starting = 0

  close() {
    const batch = this.forming
    this.forming = []
    this.weight = 0
    this.shares = new Map()
    return batch
  }

  needsWorker() {
    return this.full.length + Math.min(this.forming.length, 1) > this.starting
  }
}

const unanswered = "a batch left a request unanswered"

/**
 * No caller joins a run that started before its request, and a caller that leaves stops no run. A request whose key has
 * its share of the batch runs separately, so that one caller's many delay no other.
 */
export const make = Effect.fnUntraced(function* <Request, Answer, E>(options: BatcherOptions<Request, Answer, E>) {
  const { keysOf, laneOf, nameOf, retriesAlone, run, share = 1, size = 64, weightOf } = options
  const width = options.width ?? (nameOf === undefined ? 2 : 1)
  const scope = yield* Effect.scope
  const lanes = new Map<string, Lane<Request, Answer, E>>()

  const alone = (request: Request) =>
    Effect.flatMap(run([request]), ([answer]) =>
      answer === undefined ? Effect.die(unanswered) : Effect.succeed(answer),
    )

  const runBatch = (batch: ReadonlyArray<Waiting<Request, Answer, E>>): Effect.Effect<void> =>
    Effect.suspend(() => run(batch.map(({ request }) => request))).pipe(
      Effect.matchCauseEffect({
        onSuccess: (answers) =>
          Effect.forEach(
            batch,
            ({ done }, index) => {
              const answer = answers[index]
              return answer === undefined ? Deferred.die(done, unanswered) : Deferred.succeed(done, answer)
            },
            { discard: true },
          ),
        onFailure: (cause) =>
          batch.length > 1 && retriesAlone?.(cause) === true
            ? Effect.forEach(batch, ({ done, request }) => Deferred.into(alone(request), done), { discard: true })
            : Effect.forEach(batch, ({ done }) => Deferred.failCause(done, cause), { discard: true }),
      }),
      // An interrupted worker still answers. Any other outcome has completed these already.
      Effect.onInterrupt(() => Effect.forEach(batch, ({ done }) => Deferred.interrupt(done), { discard: true })),
    )

  const work = (name: string, lane: Lane<Request, Answer, E>): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (lane.needsWorker()) {
        return Effect.andThen(runBatch(lane.full.shift() ?? lane.close()), work(name, lane))
      }
      lane.workers -= 1
      if (lane.workers === 0) lanes.delete(name)
      return Effect.void
    })

  const begin = (name: string, lane: Lane<Request, Answer, E>) => {
    lane.workers += 1
    lane.starting += 1
    const started = Effect.suspend(() => {
      lane.starting -= 1
      return work(name, lane)
    })
    return Effect.forkIn(options.joins === true ? Effect.andThen(Effect.yieldNow, started) : started, scope)
  }

  // Uninterruptible: losing the worker here would block every later caller.
  return (request: Request): Effect.Effect<Answer, E> =>
    Effect.uninterruptibleMask((restore) => {
      const name = nameOf?.(request) ?? laneOf?.(request) ?? ""
      const lane = lanes.get(name) ?? new Lane<Request, Answer, E>()
      const [first] = lane.forming
      if (nameOf !== undefined && first !== undefined) return restore(Deferred.await(first.done))
      const keys = keysOf?.(request) ?? []
      if (keys.some((key) => (lane.shares.get(key) ?? 0) >= share)) return restore(alone(request))
      const weight = weightOf?.(request) ?? 1
      if (lane.weight > 0 && lane.weight + weight > size) lane.full.push(lane.close())
      const done = Deferred.makeUnsafe<Answer, E>()
      lane.forming.push({ request, done })
      lane.weight += weight
      for (const key of keys) lane.shares.set(key, (lane.shares.get(key) ?? 0) + 1)
      if (lane.weight >= size) lane.full.push(lane.close())
      lanes.set(name, lane)
      const answer = restore(Deferred.await(done))
      return lane.workers < width && lane.needsWorker() ? Effect.andThen(begin(name, lane), answer) : answer
    })
})

/** Deduplicates concurrent reads by name. The span of a run is a root, because no single caller owns the run. */
export const shared = <Key, A, E>({
  nameOf,
  run,
}: {
  readonly nameOf: (key: Key) => string
  readonly run: (key: Key) => Effect.Effect<A, E>
}) =>
  make<Key, readonly [A], E>({
    nameOf,
    run: (keys) =>
      Effect.forEach(keys, (key) => Effect.map(run(key), (value) => [value] as const)).pipe(
        Trace.span("Gather.shared", { root: true }),
      ),
  }).pipe(Effect.map((ask) => (key: Key) => Effect.map(ask(key), ([value]) => value)))
