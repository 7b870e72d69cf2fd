/** JSON-RPC over HTTP. Concurrent queries share a request, and each fails separately. */
import { Clock, type Duration, Effect, Option, Redacted, Result, Schema, Semaphore } from "effect"
import { Base64 } from "effect/encoding"
import * as Batcher from "../../../platform/Batcher.ts"
import * as JsonClient from "../../../http/JsonClient.ts"
import { type Ask, type Call, ChainUnavailable, malformedAnswer, NodeQueries, timed } from "./Rpc.ts"

export interface JsonRpcConfig {
  readonly url: Redacted.Redacted<string>
  /** From the first byte sent to the last byte read. */
  readonly timeout: Duration.Duration
  /** The size limit in bytes for repeating, alone, a query whose answer was too large. Few of these run at once. */
  readonly limit?: number
}

/** Maximum number of queries in one request. Common providers accept as many. */
const batchSize = 50

/** Milliseconds for which a node that rejects batches gets single requests. */
const refusalHolds = 60_000

/** Large answers read concurrently, which bounds their memory. */
const longAtOnce = 3

/** Milliseconds until a query is retried, and until one is that met a rate limit. */
const pause = 150
const longPause = 1_000

/** A query without an answer, and whether and how to retry it. */
interface Failed {
  readonly error: ChainUnavailable
  readonly next: "never" | "alone" | "again"
}

interface Worded {
  readonly method: string
  /** Its members `method` and `params` as JSON. Queries with equal text are sent once. */
  readonly text: string
}

type Answers = ReadonlyArray<Result.Result<unknown, Failed>>

const answersOf = (answers: Answers) => answers.map(Result.mapError(({ error }) => error))

const worded = ([method, params]: Call): Worded => ({
  method,
  text: `"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}`,
})

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

/** Codes of JSON-RPC and of providers for an internal error or a rate limit. */
export const transientCodes: ReadonlySet<number> = new Set([-1, 429, -32_005, -32_007, -32_603])

/** Providers' codes for a rate limit, which says nothing about batches. */
const limited: ReadonlySet<number> = new Set([429, -32_005, -32_007])

/** HTTP statuses that say nothing about the query. */
const isPassing = (status: number) => status === 403 || status === 408 || status === 429 || status >= 500

type Facts = Pick<ChainUnavailable, "reason" | "status" | "code" | "detail">

const failed = (method: string, next: Failed["next"], facts: Facts) =>
  Effect.fail<Failed>({ next, error: new ChainUnavailable({ method, ...facts }) })

const unanswered = (method: string, next: Failed["next"]) =>
  Effect.fail<Failed>({ next, error: malformedAnswer(method) })

const resultOf = (method: string, answer: Answer): Effect.Effect<unknown, Failed> => {
  if (answer.error === undefined) {
    return "result" in answer ? Effect.succeed(answer.result) : unanswered(method, "alone")
  }
  const { code, data, message } = answer.error
  const next = transientCodes.has(code) ? "again" : "never"
  return failed(method, next, { reason: "refused the question", code, detail: `${message} ${String(data ?? "")}` })
}

const each = (
  batch: ReadonlyArray<Worded>,
  answerTo: (query: Worded, index: number) => Effect.Effect<unknown, Failed>,
) => Effect.forEach(batch, (query, index) => Effect.result(answerTo(query, index)))

const body = (text: string, id: number) => `{"jsonrpc":"2.0","id":${id},${text}}`

/** A client for one node. `once` sends a query alone and never repeats it. */
export const make = Effect.fnUntraced(function* ({ limit, timeout, url }: JsonRpcConfig) {
  const address = new URL(Redacted.value(url))
  const { password, username } = address
  address.username = address.password = ""
  const post = yield* JsonClient.make(address)
  const secret = Base64.encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  const headers: Readonly<Record<string, string>> = username === "" ? {} : { authorization: `Basic ${secret}` }

  const long = yield* Semaphore.make(longAtOnce)
  let aloneUntil = 0

  const exchange = (text: string, most?: number) =>
    Effect.timeout(post({ text, headers, ...(most === undefined ? {} : { limit: most }) }), timeout)

  /** The reason for a missing answer. It omits the cause's text, which names the address. */
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
          return resultOf(method, answer.value)
        }
        return status === 200
          ? unanswered(method, "again")
          : failed(method, isPassing(status) ? "again" : "never", { reason: "refused the request", status })
      }),
    )

  /** The answers to a batch whose answer is no list. */
  const unlisted = Effect.fnUntraced(function* (batch: ReadonlyArray<Worded>, status: number, json: unknown) {
    const refusal = decodeAnswer(json)
    const isLimited = Option.exists(refusal, ({ error }) => limited.has(error?.code ?? 0))
    if (Option.isSome(refusal) && isLimited) return yield* each(batch, ({ method }) => resultOf(method, refusal.value))
    // A node that rejects a batch may accept single queries.
    if (status !== 200 || Option.isSome(refusal)) aloneUntil = (yield* Clock.currentTimeMillis) + refusalHolds
    return yield* each(batch, ({ method }) => unanswered(method, "alone"))
  })

  const together = Effect.fnUntraced(function* (batch: ReadonlyArray<Worded>, most?: number) {
    const text = `[${batch.map((query, index) => body(query.text, index)).join(",")}]`
    const sent = yield* Effect.result(exchange(text, most))
    if (sent._tag === "Failure") {
      // A single query may have used up the time or the size limit.
      const next = isOfOne(sent.failure) ? "alone" : "again"
      return yield* each(batch, ({ method }) => failed(method, next, silence(sent.failure)))
    }
    const { status } = sent.success
    const refused = { reason: "refused the request", status }
    if (isPassing(status)) return yield* each(batch, ({ method }) => failed(method, "again", refused))
    const json = Option.getOrUndefined(decodeJson(sent.success.text))
    if (!Array.isArray(json)) return yield* unlisted(batch, status, json)
    const answers = json.flatMap((item) => Option.toArray(decodeAnswer(item)))
    const byId = new Map(answers.map((answer) => [answer.id, answer]))
    return yield* each(batch, ({ method }, index) => {
      const answer = byId.get(index)
      return answer === undefined ? unanswered(method, "alone") : resultOf(method, answer)
    })
  })

  /** Sends each distinct query once and returns the answers in the order of the lists. */
  const send = Effect.fnUntraced(function* (lists: ReadonlyArray<ReadonlyArray<Worded>>) {
    const questions = new Map(lists.flat().map((question) => [question.text, question]))
    const batch = [...questions.values()]
    const [first, ...others] = batch
    const answers =
      first !== undefined && others.length === 0 ? [yield* Effect.result(single(first))] : yield* together(batch)
    const byText = new Map(batch.map(({ text }, index) => [text, answers[index]]))
    return lists.map((list) => list.flatMap(({ text }) => byText.get(text) ?? []))
  })

  const sendSoon = yield* Batcher.make<ReadonlyArray<Worded>, Answers, never>({
    size: batchSize,
    weightOf: (list) => list.length,
    width: Infinity,
    joins: true,
    run: send,
  })

  const eachAlone = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.forEach(list, (question) => Effect.result(single(question)), { concurrency: "unbounded" })

  const isAlone = Effect.map(Clock.currentTimeMillis, (now) => now < aloneUntil)

  /** An answer is never older than its query. */
  const enqueue = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.flatMap(isAlone, (alone) => (alone ? eachAlone(list) : sendSoon(list)))

  /** Sends the list in a request without other callers' queries, which may be as long as a single one. */
  const apart = (list: ReadonlyArray<Worded>): Effect.Effect<Answers> =>
    Effect.flatMap(isAlone, (alone) =>
      alone || list.length === 1 ? eachAlone(list) : long.withPermit(together(list, limit)),
    )

  /** Repeats a list at most once and as a whole: its answers are compared, so they must come from one node. */
  const repeated = Effect.fnUntraced(function* (list: ReadonlyArray<Worded>) {
    ;(yield* NodeQueries).count += 1
    const answers = yield* enqueue(list)
    const failures = answers.filter(Result.isFailure).map(({ failure }) => failure)
    const passed = failures.filter(({ next }) => next !== "never")
    if (passed.length === 0) return answers
    if (passed.some(({ error }) => error.status === 429 || error.code === 429)) yield* Effect.sleep(longPause)
    else if (passed.some(({ next }) => next === "again")) yield* Effect.sleep(pause)
    return yield* passed.some(({ next }) => next === "alone") ? apart(list) : enqueue(list)
  })

  const askBy =
    (send: (list: ReadonlyArray<Worded>) => Effect.Effect<Answers>): Ask =>
    ({ calls, decode }) =>
      timed(calls, Effect.map(send(calls.map(worded)), answersOf)).pipe(
        Effect.flatMap((answers) => Effect.fromResult(decode(answers))),
      )

  /** `ask` sends the calls of a question in one request, also where it repeats them. */
  return { ask: askBy(repeated), once: askBy(eachAlone) }
})

export type JsonRpc = Effect.Success<ReturnType<typeof make>>

/** Failures of a batch that a single query may have caused. */
const isOfOne = ({ _tag }: { readonly _tag: string }) => _tag === "AnswerTooLarge" || _tag === "TimeoutError"
