/** Requests that were answered before: their path and query are decoded, so that the same again is answered at once. */
import { Context, type Effect, Layer } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

type Request = HttpServerRequest.HttpServerRequest

/** Answers such a request as fresh as ever; what is not as usual it leaves to the `whole` way. */
export type Answer = <E, R>(
  request: Request,
  whole: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** Requests of a kind that are remembered; the least used go first. */
const most = 4096

/** A poll names what its reader has seen, so nearly every one is new: polls leave the reads their places. */
export type Kind = "read" | "poll"

/** Characters of an URL that is remembered. */
const longest = 512

/** What makes a `POST` more than the question for a price. */
const paying = ["payment-signature", "x-payment", "authorization"]

const isPaying = ({ headers }: Request) => paying.some((name) => headers[name] !== undefined)

/** Without a body, as far as its head says. */
const isEmpty = ({ headers }: Request) =>
  (headers["content-length"] ?? "0") === "0" && headers["transfer-encoding"] === undefined

/** `GET` and `HEAD` have one answer, and nothing else in common with the question for a price. */
const nameOf = (request: Request) => {
  if (request.method === "GET" || request.method === "HEAD") return `GET ${request.url}`
  if (request.method !== "POST" || isPaying(request)) return undefined
  if (request.headers["idempotency-key"] !== undefined) return `POST named ${request.url}`
  return isEmpty(request) ? `POST ${request.url}` : undefined
}

export class KnownRequests extends Context.Service<
  KnownRequests,
  {
    readonly get: (request: Request) => Answer | undefined
    /** Remembers how a `GET`, or a `POST` that pays nothing, is answered from now on: one with neither key nor body, or any with a key. */
    readonly set: (request: Request, answer: Answer, kind?: Kind) => void
  }
>()("spirit-altar/platform/http/KnownRequests") {
  static readonly layer = Layer.sync(KnownRequests, () => {
    const known = { read: remembered(), poll: remembered() }
    const set = (request: Request, answer: Answer, kind: Kind = "read") => {
      const name = nameOf(request)
      if (name !== undefined && name.length <= longest) known[kind].set(name, answer)
    }
    const get = (request: Request) => {
      const name = nameOf(request)
      return name === undefined ? undefined : (known.read.get(name) ?? known.poll.get(name))
    }
    return KnownRequests.of({ get, set })
  })
}

/** Answers by name; the most that are remembered are those that were asked last. */
const remembered = () => {
  const answers = new Map<string, Answer>()
  const set = (name: string, answer: Answer) => {
    answers.delete(name)
    answers.set(name, answer)
    const [oldest] = answers.keys()
    if (answers.size > most && oldest !== undefined) answers.delete(oldest)
  }
  const get = (name: string) => {
    const answer = answers.get(name)
    if (answer === undefined) return undefined
    answers.delete(name)
    answers.set(name, answer)
    return answer
  }
  return { get, set }
}
