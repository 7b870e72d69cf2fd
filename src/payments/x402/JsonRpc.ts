/** JSON-RPC over HTTP: questions of the same moment travel in one request, and each of them still fails alone. */
import { Clock, Deferred, type Duration, Effect, Option, Redacted, Schema } from "effect"
import { Base64 } from "effect/encoding"
import * as Posting from "../../platform/http/Posting.ts"
import { ChainUnavailable, senseless } from "./ChainUnavailable.ts"
import { timed } from "./RpcMetrics.ts"

export interface JsonRpcConfig {
  readonly url: Redacted.Redacted<string>
  /** From the first byte sent to the last byte read. */
  readonly timeout: Duration.Duration
  /** Bytes read of the answer to a question that travels alone; of a batch it is always `answerLimit`. */
  readonly limit?: number
}

/** Asks the node; fails when it refuses the question or does not answer it. */
export type Ask = (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, ChainUnavailable>

/** Questions in one request at most; the common providers take as many. */
const batchSize = 50

/** Milliseconds for which a node that refuses batches is asked one by one. */
const refusalHolds = 60_000

/** Milliseconds until a question is asked again, and until one is that came too often. */
const pause = 150
const longPause = 1_000

/** A question that was not answered: whether, and how, it is worth asking once more. */
interface Failed {
  readonly error: ChainUnavailable
  readonly next: "never" | "alone" | "again"
}

interface Waiting {
  readonly method: string
  /** Its members `method` and `params` as JSON: what is the same question, word for word, is asked once. */
  readonly text: string
  readonly done: Deferred.Deferred<unknown, Failed>
}

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
  let aloneUntil = 0

  /** One request and the whole of its answer, however slowly that is sent. */
  const exchange = (text: string, most?: number) =>
    Effect.timeout(post({ text, headers, ...(most === undefined ? {} : { limit: most }) }), timeout)

  /** Why nothing came back; never in the words of the cause, which name the address. */
  const silence = (error: { readonly _tag: string }): { readonly reason: string } => ({ reason: error._tag })

  const alone = ({ method, text }: Omit<Waiting, "done">): Effect.Effect<unknown, Failed> =>
    exchange(body(text, 1), limit).pipe(
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

  const together = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
    const sent = yield* Effect.result(exchange(`[${batch.map(({ text }, index) => body(text, index)).join(",")}]`))
    const everyone = (one: (waiting: Waiting, index: number) => Effect.Effect<unknown, Failed>) =>
      Effect.forEach(batch, (waiting, index) => Deferred.into(one(waiting, index), waiting.done), { discard: true })
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
      // What answers no batch may answer each question.
      if (status !== 200 || Option.isSome(decodeAnswer(answers)))
        aloneUntil = (yield* Clock.currentTimeMillis) + refusalHolds
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
      ? Deferred.into(alone(first), first.done)
      : // Whoever waits learns of a fault of ours, too.
        Effect.catchCause(together(batch), (cause) =>
          Effect.forEach(batch, ({ done }) => Deferred.failCause(done, cause), { discard: true }),
        )
  }

  /** Goes with the next request that starts: an answer is never older than its question. */
  const enqueue = (method: string, text: string): Effect.Effect<unknown, Failed> =>
    // Whoever stops waiting leaves its question in the batch, and the batch on its way.
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now < aloneUntil) return restore(alone({ method, text }))
        const known = forming.get(text)
        if (known !== undefined) return restore(Deferred.await(known.done))
        const done = Deferred.makeUnsafe<unknown, Failed>()
        forming.set(text, { method, text, done })
        const start =
          forming.size === batchSize
            ? Effect.forkIn(send(formed()), scope)
            : forming.size === 1
              ? Effect.forkIn(
                  Effect.andThen(Effect.yieldNow, () => send(formed())),
                  scope,
                )
              : Effect.void
        return Effect.andThen(start, restore(Deferred.await(done)))
      }),
    )

  const textIn = (method: string, params: ReadonlyArray<unknown>) =>
    `"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}`

  const ask: Ask = (method, params) => {
    const text = textIn(method, params)
    return enqueue(method, text).pipe(
      Effect.catch(({ error, next }) => {
        if (next === "never") return Effect.fail(error)
        const wait = error.status === 429 || error.code === 429 ? longPause : next === "again" ? pause : 0
        const again = next === "alone" ? alone({ method, text }) : enqueue(method, text)
        return Effect.mapError(Effect.andThen(Effect.sleep(wait), again), (last) => last.error)
      }),
      timed(method),
    )
  }

  const once: Ask = (method, params) =>
    Effect.mapError(alone({ method, text: textIn(method, params) }), ({ error }) => error).pipe(timed(method))

  return { ask, once }
})

export type JsonRpc = Effect.Success<ReturnType<typeof make>>

/** Failures of a batch that one of its questions may have made alone. */
const isOfOne = ({ _tag }: { readonly _tag: string }) => _tag === "AnswerTooLarge" || _tag === "TimeoutError"
