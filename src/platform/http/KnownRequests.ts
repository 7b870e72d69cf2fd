/** Requests that were answered before: their path and query are decoded, so that the same again is answered at once. */
import { Context, type Effect, Layer } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

type Request = HttpServerRequest.HttpServerRequest

/** Answers a request by its negotiating headers alone, as fresh as ever. */
export type Answer = (request: Request) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** Requests that are remembered; the least used go first. */
const most = 4096

/** Characters of an URL that is remembered. */
const longest = 512

/** What makes a `POST` more than the question for a price. */
const paying = ["idempotency-key", "payment-signature", "x-payment", "authorization", "transfer-encoding"]

/** A request without a key, a payment and a body. */
const isBare = ({ headers }: Request) =>
  (headers["content-length"] ?? "0") === "0" && paying.every((name) => headers[name] === undefined)

/** `GET` and `HEAD` have one answer, and nothing else in common with the question for a price. */
const nameOf = (request: Request) => {
  if (request.method === "GET" || request.method === "HEAD") return `GET ${request.url}`
  return request.method === "POST" && isBare(request) ? `POST ${request.url}` : undefined
}

export class KnownRequests extends Context.Service<
  KnownRequests,
  {
    readonly get: (request: Request) => Answer | undefined
    /** Remembers how a `GET`, or a `POST` without key, payment and body, is answered from now on. */
    readonly set: (request: Request, answer: Answer) => void
  }
>()("spirit-altar/platform/http/KnownRequests") {
  static readonly layer = Layer.sync(KnownRequests, () => {
    const answers = new Map<string, Answer>()
    const set = (request: Request, answer: Answer) => {
      const name = nameOf(request)
      if (name === undefined || name.length > longest) return
      answers.delete(name)
      answers.set(name, answer)
      const [oldest] = answers.keys()
      if (answers.size > most && oldest !== undefined) answers.delete(oldest)
    }
    const get = (request: Request) => {
      const name = nameOf(request)
      const answer = name === undefined ? undefined : answers.get(name)
      if (name === undefined || answer === undefined) return undefined
      answers.delete(name)
      answers.set(name, answer)
      return answer
    }
    return KnownRequests.of({ get, set })
  })
}
