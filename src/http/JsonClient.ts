/** A client for the configured servers: posts or gets JSON, limits the size of answers and follows no redirect. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Schema } from "effect"
import { AnswerTooLarge, answerLimit } from "../platform/Answers.ts"
import * as Trace from "../platform/Trace.ts"

export interface ClientResponse {
  readonly status: number
  readonly text: string
  /** The target of a redirect, without its query; it is never followed. */
  readonly location: string | undefined
}

/** Where a redirect leads. A query may hold a secret. */
const targetOf = (location: unknown, from: URL) =>
  typeof location === "string" ? (URL.parse(location, from)?.href.replace(/[?#].*$/u, "") ?? "nowhere") : undefined

/**
 * No complete answer. The error has no cause, which could name the address. `isUnsent` means that no connection was
 * made, so not a byte of the request was or will be sent.
 */
export class ConnectionFailed extends Schema.TaggedError<ConnectionFailed>()("ConnectionFailed", {
  isUnsent: Schema.Boolean,
}) {}

export interface ClientRequest {
  /** JSON, absent for a GET. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Maximum bytes of the answer. */
  readonly limit?: number
}

/** A client for one address, with connections that last as long as the scope. An interrupt ends the request. */
export const make = Effect.fnUntraced(function* (url: URL, method: "GET" | "POST" = "POST") {
  const dispatcher = yield* NodeHttpClient.makeDispatcher
  const target = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    // Callers set their own timeouts.
    headersTimeout: 0,
    bodyTimeout: 0,
  } as const

  const send = ({ headers, limit = answerLimit, text }: ClientRequest, traceparent: string | undefined) =>
    Effect.callback<ClientResponse, ConnectionFailed | AnswerTooLarge>((resume) => {
      const decoder = new TextDecoder()
      let stop: ((reason: Error) => void) | undefined
      let isLeft = false
      let status = 0
      let location: string | undefined
      let size = 0
      let answer = ""
      const leave = () => {
        isLeft = true
        stop?.(new Error("the caller was interrupted"))
      }
      dispatcher.dispatch(
        {
          ...target,
          ...(text === undefined ? {} : { body: text }),
          headers: {
            ...(text === undefined ? {} : { "content-type": "application/json" }),
            ...headers,
            ...(traceparent === undefined ? {} : { traceparent }),
          },
        },
        {
          onRequestStart: (controller) => {
            stop = (reason) => controller.abort(reason)
            if (isLeft) leave()
          },
          onResponseStart: (_, code, fields) => {
            status = code
            location = code >= 300 && code < 400 ? targetOf(fields["location"], url) : undefined
          },
          onResponseData: (_, chunk) => {
            size += chunk.byteLength
            if (size <= limit) answer += decoder.decode(chunk, { stream: true })
            else {
              resume(Effect.fail(new AnswerTooLarge({})))
              leave()
            }
          },
          onResponseEnd: () => resume(Effect.succeed({ status, location, text: answer + decoder.decode() })),
          // A request starts before its first byte is written, and only on a connection.
          onResponseError: () => resume(Effect.fail(new ConnectionFailed({ isUnsent: stop === undefined }))),
        },
      )
      return Effect.sync(leave)
    })

  return (letter: ClientRequest) =>
    Effect.flatMap(Trace.current, (traceparent) => send(letter, traceparent)).pipe(
      Trace.span(method, { kind: "client" }),
    )
})
