/** JSON-RPC over HTTP: questions of the same moment travel in one request, and each of them still fails alone. */
import { Clock, type Duration, Effect, Option, Redacted, Result, Schema, Semaphore } from "effect"
import { Base64 } from "effect/encoding"
import * as Gather from "../../../platform/Gather.ts"
import * as Posting from "../../../http/Posting.ts"
import { type Ask, ChainUnavailable, senseless, timed } from "./Rpc.ts"

export interface JsonRpcConfig {
  readonly url: Redacted.Redacted<string>
  /** From the first byte sent to the last byte read. */
  readonly timeout: Duration.Duration
  /** Bytes read, a few answers at a time, of one that was too long although its question travelled alone. */
  readonly limit?: number
}

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
  const address = new URL(Redacted.value(url))
  const { password, username } = address
  address.username = address.password = ""
  const post = yield* Posting.to(address)
  const secret = Base64.encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  const headers: Readonly<Record<string, string>> = username === "" ? {} : { authorization: `Basic ${secret}` }

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

  /** Each question of one moment once; the answers in the order of the lists. */
  const send = Effect.fnUntraced(function* (lists: ReadonlyArray<ReadonlyArray<Worded>>) {
    const questions = new Map(lists.flat().map((question) => [question.text, question]))
    const batch = [...questions.values()]
    const [first, ...others] = batch
    const answers =
      first !== undefined && others.length === 0 ? [yield* Effect.result(single(first))] : yield* together(batch)
    const byText = new Map(batch.map(({ text }, index) => [text, answers[index]]))
    return lists.map((list) => list.flatMap(({ text }) => byText.get(text) ?? []))
  })

  const sendSoon = yield* Gather.make<ReadonlyArray<Worded>, Answers, never>({
    size: batchSize,
    weightOf: (list) => list.length,
    width: Infinity,
    joins: true,
    run: send,
  })

  const sendAlone = yield* Gather.make<Worded, Answers[number], never>({
    nameOf: ({ text }) => text,
    width: Infinity,
    joins: true,
    run: (questions) => Effect.forEach(questions, (question) => Effect.result(single(question))),
  })

  const eachAlone = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.forEach(list, sendAlone, { concurrency: "unbounded" })

  const isAlone = Effect.map(Clock.currentTimeMillis, (now) => now < aloneUntil)

  /** An answer is never older than its question. */
  const enqueue = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.flatMap(isAlone, (alone) => (alone ? eachAlone(list) : sendSoon(list)))

  /** In a request that carries no other caller's questions. */
  const apart = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.flatMap(isAlone, (alone) => (alone || list.length === 1 ? eachAlone(list) : together(list)))

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
