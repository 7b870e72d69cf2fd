/** JSON that is posted to a server of our configuration, or asked of it: answers are bounded, and no redirect is followed. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Schema } from "effect"
import { AnswerTooLarge, answerLimit } from "../platform/Answers.ts"
import * as Trace from "../platform/Trace.ts"

export interface Answered {
  readonly status: number
  readonly text: string
}

/**
 * Nothing came back, or not all of it. It keeps no cause, which could name the address. Where `isUnsent`, no connection was
 * made, and not a byte of the request has left or will leave.
 */
export class ConnectionFailed extends Schema.TaggedError<ConnectionFailed>()("ConnectionFailed", {
  isUnsent: Schema.Boolean,
}) {}

export interface Letter {
  /** JSON; a question has none. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes read of the answer. */
  readonly limit?: number
}

/** Asks one address, over connections that stay open as long as the scope; whoever stops waiting ends the request. */
export const to = Effect.fnUntraced(function* (url: URL, method: "GET" | "POST" = "POST") {
  const dispatcher = yield* NodeHttpClient.makeDispatcher
  const asked = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    // Whoever asks says how long it waits.
    headersTimeout: 0,
    bodyTimeout: 0,
  } as const

  const send = ({ headers, limit = answerLimit, text }: Letter, traceparent: string | undefined) =>
    Effect.callback<Answered, ConnectionFailed | AnswerTooLarge>((resume) => {
      const decoder = new TextDecoder()
      let stop: ((reason: Error) => void) | undefined
      let isLeft = false
      let status = 0
      let size = 0
      let answer = ""
      const leave = () => {
        isLeft = true
        stop?.(new Error("nobody waits for it any more"))
      }
      dispatcher.dispatch(
        {
          ...asked,
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
          onResponseStart: (_, code) => {
            status = code
          },
          onResponseData: (_, chunk) => {
            size += chunk.byteLength
            if (size <= limit) answer += decoder.decode(chunk, { stream: true })
            else {
              resume(Effect.fail(new AnswerTooLarge({})))
              leave()
            }
          },
          onResponseEnd: () => resume(Effect.succeed({ status, text: answer + decoder.decode() })),
          // A request is started before its first byte is written, and never without a connection.
          onResponseError: () => resume(Effect.fail(new ConnectionFailed({ isUnsent: stop === undefined }))),
        },
      )
      return Effect.sync(leave)
    })

  return (letter: Letter) =>
    Effect.flatMap(Trace.current, (traceparent) => send(letter, traceparent)).pipe(
      Trace.span(method, { kind: "client" }),
    )
})
