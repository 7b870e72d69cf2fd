/** JSON-RPC over HTTP: questions of the same moment travel in one request, and each of them still fails alone. */
import { Clock, Deferred, type Duration, Effect, Option, Redacted, Result, Schema, Semaphore } from "effect"
import { Base64 } from "effect/encoding"
import * as Posting from "../../platform/http/Posting.ts"
import { ChainUnavailable, senseless } from "./ChainUnavailable.ts"
import { timed } from "./RpcMetrics.ts"

export interface JsonRpcConfig {
  readonly url: Redacted.Redacted<string>
  /** From the first byte sent to the last byte read. */
  readonly timeout: Duration.Duration
  /** Bytes read, a few answers at a time, of one that was too long although its question travelled alone. */
  readonly limit?: number
}

/** Asks the node; fails when it refuses the question or does not answer it. */
export type Ask = (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, ChainUnavailable>

/** A method and its parameters. */
export type Question = Parameters<Ask>

/** What the node said to one question of two. */
export type Asked = Result.Result<unknown, ChainUnavailable>

/**
 * Asks two questions whose answers are compared: both are answered by one request, and one is never repeated without the other.
 * Where the node refuses batches they travel alone.
 */
export type AskTogether = (one: Question, other: Question) => Effect.Effect<readonly [Asked, Asked]>

/** Questions in one request at most; the common providers take as many. */
const batchSize = 50

/** Milliseconds for which a node that refuses batches is asked one by one. */
const refusalHolds = 60_000

/** Long answers that are read at the same time: what they take of the memory is bounded. */
const longAtOnce = 3

/** Milliseconds until a question is asked again, and until one is that came too often. */
const pause = 150
const longPause = 1_000

/** A question that was not answered: whether, and how, it is worth asking once more. */
interface Failed {
  readonly error: ChainUnavailable
  readonly next: "never" | "alone" | "again"
}

interface Worded {
  readonly method: string
  /** Its members `method` and `params` as JSON: what is the same question, word for word, is asked once. */
  readonly text: string
}

interface Waiting extends Worded {
  readonly done: Deferred.Deferred<unknown, Failed>
}

type Answers = ReadonlyArray<Result.Result<unknown, Failed>>

const Answer = Schema.Struct({
  id: Schema.Unknown,
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.Finite,
      message: Schema.String,
      data: Schema.optionalKey(Schema.Unknown),
    }),
  ),
})
type Answer = typeof Answer.Type

const decodeAnswer = Schema.decodeUnknownOption(Answer)
const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Of JSON-RPC and of providers: an internal error, and a limit of requests. */
export const passing: ReadonlySet<number> = new Set([-1, 429, -32_005, -32_007, -32_603])

/** Of providers: a limit of requests, which says nothing of batches. */
const limited: ReadonlySet<number> = new Set([429, -32_005, -32_007])

/** HTTP statuses that say nothing of the question. */
const isPassing = (status: number) => status === 403 || status === 408 || status === 429 || status >= 500

type Facts = Pick<ChainUnavailable, "reason" | "status" | "code" | "detail">

const failed = (method: string, next: Failed["next"], facts: Facts) =>
  Effect.fail<Failed>({ next, error: new ChainUnavailable({ method, ...facts }) })

const unanswered = (method: string, next: Failed["next"]) => Effect.fail<Failed>({ next, error: senseless(method) })

/** What the node's answer to one question says. */
const read = (method: string, answer: Answer): Effect.Effect<unknown, Failed> => {
  if (answer.error === undefined) {
    return "result" in answer ? Effect.succeed(answer.result) : unanswered(method, "alone")
  }
  const { code, data, message } = answer.error
  const next = passing.has(code) ? "again" : "never"
  return failed(method, next, { reason: "refused the question", code, detail: `${message} ${String(data ?? "")}` })
}

const body = (text: string, id: number) => `{"jsonrpc":"2.0","id":${id},${text}}`

/** A node at an address; `once` asks a single time, alone, what must not be repeated. */
export const make = Effect.fnUntraced(function* ({ limit, timeout, url }: JsonRpcConfig) {
  const scope = yield* Effect.scope
  const address = new URL(Redacted.value(url))
  const { password, username } = address
  address.username = address.password = ""
  const post = yield* Posting.to(address)
  const secret = Base64.encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  const headers: Readonly<Record<string, string>> = username === "" ? {} : { authorization: `Basic ${secret}` }

  let forming = new Map<string, Waiting>()
  const starting = new Map<string, Waiting>()
  const long = yield* Semaphore.make(longAtOnce)
  let aloneUntil = 0

  /** One request and the whole of its answer, however slowly that is sent. */
  const exchange = (text: string, most?: number) =>
    Effect.timeout(post({ text, headers, ...(most === undefined ? {} : { limit: most }) }), timeout)

  /** Why nothing came back; never in the words of the cause, which name the address. */
  const silence = (error: { readonly _tag: string }): { readonly reason: string } => ({ reason: error._tag })

  const single = ({ method, text }: Worded): Effect.Effect<unknown, Failed> =>
    exchange(body(text, 1)).pipe(
      Effect.catchIf(
        ({ _tag }) => _tag === "AnswerTooLarge" && limit !== undefined,
        () => long.withPermit(exchange(body(text, 1), limit)),
      ),
      Effect.catch((error) => failed(method, "again", silence(error))),
      Effect.flatMap(({ status, text }) => {
        const answer = Option.flatMap(decodeJson(text), decodeAnswer)
        if (Option.isSome(answer) && (status === 200 || answer.value.error !== undefined)) {
          return read(method, answer.value)
        }
        return status === 200
          ? unanswered(method, "again")
          : failed(method, isPassing(status) ? "again" : "never", { reason: "refused the request", status })
      }),
    )

  /** What each question of a batch was answered. */
  const together = Effect.fnUntraced(function* (batch: ReadonlyArray<Worded>) {
    const sent = yield* Effect.result(exchange(`[${batch.map(({ text }, index) => body(text, index)).join(",")}]`))
    const everyone = (one: (question: Worded, index: number) => Effect.Effect<unknown, Failed>) =>
      Effect.forEach(batch, (question, index) => Effect.result(one(question, index)))
    if (sent._tag === "Failure") {
      // One question may have taken all the time, or all the bytes.
      const next = isOfOne(sent.failure) ? "alone" : "again"
      return yield* everyone(({ method }) => failed(method, next, silence(sent.failure)))
    }
    const { status, text } = sent.success
    if (isPassing(status)) {
      return yield* everyone(({ method }) => failed(method, "again", { reason: "refused the request", status }))
    }
    const answers = Option.getOrUndefined(decodeJson(text))
    if (!Array.isArray(answers)) {
      const refusal = decodeAnswer(answers)
      if (Option.isSome(refusal) && limited.has(refusal.value.error?.code ?? 0))
        return yield* everyone(({ method }) => read(method, refusal.value))
      // What answers no batch may answer each question.
      if (status !== 200 || Option.isSome(refusal)) aloneUntil = (yield* Clock.currentTimeMillis) + refusalHolds
      return yield* everyone(({ method }) => unanswered(method, "alone"))
    }
    const byId = new Map(answers.flatMap((one) => Option.toArray(decodeAnswer(one))).map((one) => [one.id, one]))
    return yield* everyone(({ method }, index) => {
      const answer = byId.get(index)
      return answer === undefined ? unanswered(method, "alone") : read(method, answer)
    })
  })

  const formed = () => {
    const batch = [...forming.values()]
    forming = new Map()
    return batch
  }

  const send = (batch: ReadonlyArray<Waiting>) => {
    const [first] = batch
    if (first === undefined) return Effect.void
    return batch.length === 1
      ? Deferred.into(single(first), first.done)
      : together(batch).pipe(
          Effect.flatMap((answers) =>
            Effect.forEach(batch, ({ done }, index) => Deferred.into(fromResult(answers[index]), done), {
              discard: true,
            }),
          ),
          // Whoever waits learns of a fault of ours, too.
          Effect.catchCause((cause) =>
            Effect.forEach(batch, ({ done }) => Deferred.failCause(done, cause), { discard: true }),
          ),
        )
  }

  /** Most questions fill no batch, and there is nothing to send. */
  const sendNow = (batch: ReadonlyArray<Waiting>) =>
    batch.length === 0 ? Effect.void : Effect.forkIn(send(batch), scope)

  const soon = (start: () => Effect.Effect<unknown>) => Effect.forkIn(Effect.andThen(Effect.yieldNow, start), scope)

  const answersOf = (waiting: ReadonlyArray<Waiting>): Effect.Effect<Answers> =>
    Effect.forEach(waiting, ({ done }) => Effect.result(Deferred.await(done)))

  const waitingFor = (question: Worded): Waiting => ({ ...question, done: Deferred.makeUnsafe() })

  /** Goes in a request of its own; who asks the same before that starts shares it. */
  const alone = (question: Worded): Effect.Effect<Waiting> => {
    const known = starting.get(question.text)
    if (known !== undefined) return Effect.succeed(known)
    const waiting = waitingFor(question)
    starting.set(question.text, waiting)
    return Effect.as(
      soon(() => {
        starting.delete(question.text)
        return send([waiting])
      }),
      waiting,
    )
  }

  /** Goes with the next request that starts, all of a list with the same one. */
  const join = (list: ReadonlyArray<Worded>): Effect.Effect<ReadonlyArray<Waiting>> => {
    const full = list.filter(({ text }) => !forming.has(text)).length > batchSize - forming.size ? formed() : []
    const isFirst = forming.size === 0
    const waiting = list.map((question) => {
      const one = forming.get(question.text) ?? waitingFor(question)
      forming.set(question.text, one)
      return one
    })
    const ready = forming.size === batchSize ? formed() : []
    return sendNow(full).pipe(
      Effect.andThen(ready.length > 0 ? sendNow(ready) : isFirst ? soon(() => send(formed())) : Effect.void),
      Effect.as(waiting),
    )
  }

  /** An answer is never older than its question. */
  const enqueue = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    // Whoever stops waiting leaves its questions in the batch, and the batch on its way.
    Effect.uninterruptibleMask((restore) =>
      Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => (now < aloneUntil ? Effect.forEach(list, alone) : join(list))),
        Effect.flatMap((waiting) => restore(answersOf(waiting))),
      ),
    )

  /** In a request that is shared with nobody's other questions. */
  const apart = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      list.length === 1 || now < aloneUntil
        ? Effect.uninterruptibleMask((restore) =>
            Effect.flatMap(Effect.forEach(list, alone), (waiting) => restore(answersOf(waiting))),
          )
        : together(list),
    )

  /** A list is repeated once, and as a whole: its answers are compared, so they have to come from one node. */
  const asked = Effect.fnUntraced(function* (list: ReadonlyArray<Worded>) {
    const answers = yield* enqueue(list)
    const failures = answers.filter(Result.isFailure).map(({ failure }) => failure)
    const passed = failures.filter(({ next }) => next !== "never")
    if (passed.length === 0) return answers
    if (passed.some(({ error }) => error.status === 429 || error.code === 429)) yield* Effect.sleep(longPause)
    else if (passed.some(({ next }) => next === "again")) yield* Effect.sleep(pause)
    return yield* passed.some(({ next }) => next === "alone") ? apart(list) : enqueue(list)
  })

  const worded = (method: string, params: ReadonlyArray<unknown>): Worded => ({
    method,
    text: `"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}`,
  })

  const oneOf = (answers: Answers, index: number) => Effect.mapError(fromResult(answers[index]), ({ error }) => error)

  const ask: Ask = (method, params) =>
    Effect.flatMap(asked([worded(method, params)]), (answers) => oneOf(answers, 0)).pipe(timed(method))

  const askTogether: AskTogether = (one, other) =>
    Effect.flatMap(Effect.cached(asked([worded(...one), worded(...other)])), (both) => {
      const at = (index: number, [method]: Question) =>
        Effect.result(Effect.flatMap(both, (answers) => oneOf(answers, index)).pipe(timed(method)))
      return Effect.all([at(0, one), at(1, other)], { concurrency: "unbounded" })
    })

  const once: Ask = (method, params) =>
    Effect.mapError(single(worded(method, params)), ({ error }) => error).pipe(timed(method))

  return { ask, askTogether, once }
})

export type JsonRpc = Effect.Success<ReturnType<typeof make>>

/** Failures of a batch that one of its questions may have made alone. */
const isOfOne = ({ _tag }: { readonly _tag: string }) => _tag === "AnswerTooLarge" || _tag === "TimeoutError"

/** Every question has an answer of its own, so a missing one is a fault of ours. */
const fromResult = (answer: Result.Result<unknown, Failed> | undefined) =>
  answer === undefined ? Effect.die("a question without its answer") : Effect.fromResult(answer)
