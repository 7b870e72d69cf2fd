/** MCP's streamable HTTP without sessions: one message in, one JSON answer or 202 out. */
import { Effect, Layer, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { preferred } from "../http/Accept.ts"
import { mayCall } from "../http/Origins.ts"
import { body } from "../http/Responses.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { headersOf, type Limit } from "../limits/Limit.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import { toMiddleware } from "../platform/Sql.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { make as makeMcp } from "./Mcp.ts"
import * as Message from "./McpMessage.ts"
import * as Routes from "./Routes.ts"

export const requests: Limit = [
  { name: "mcp", quota: 120, seconds: 60, says: "120 MCP messages per minute from one address" },
]

const { codes, handshake, stateless } = Message

/** How reading a body fails, in HTTP's own numbers and JSON-RPC's. */
const unread = {
  too_large: [413, codes.request],
  unsupported_media_type: [415, codes.request],
  bad_request: [400, codes.parse],
} as const

const notJson = "The body is not JSON in UTF-8. Send one JSON-RPC 2.0 message."

/**
 * Requests that need neither database nor limiter. A client of both eras takes a 429 of its first request for a server of
 * the older era.
 */
const isFree = (method: string | undefined) => method === "server/discover" || method === "tools/list"

type Headers = HttpServerRequest.HttpServerRequest["headers"]

const answer = (reply: Message.Reply, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(reply, { status, headers: { "cache-control": "no-store", ...headers } })

/** The id of an answer to a message without one: null in 2025-06-18, absent in 2026-07-28. */
const noId = (headers: Headers) => (Message.eraOfHeaders(headers) === stateless ? undefined : null)

const refuse = (headers: Headers, status: number, message: string, code: number = codes.request) =>
  answer(Message.failed(noId(headers), code, message), status)

const unsupported = (headers: Headers) =>
  refuse(headers, 400, `Unsupported MCP-Protocol-Version. Send ${Message.versions.join(" or ")}.`)

/** Without its length Node would send chunks, which some clients read as a stream. */
const accepted = HttpServerResponse.empty({ status: 202, headers: { "content-length": "0" } })

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const answerOf = yield* makeMcp
    const limiter = yield* RateLimiter
    const addresses = yield* ClientAddress
    const mayUseTools = mayCall(yield* PublicUrl)

    const answered = Effect.fnUntraced(function* (headers: Headers, request: Message.Request) {
      const era = Message.eraOf(request, headers)
      if (era === handshake) {
        const isServed = request.method === "initialize" || Message.isHandshaken(headers)
        return isServed ? answer(yield* answerOf(request, era)) : unsupported(headers)
      }
      const fault = Message.envelopeFault(request, headers)
      if (fault !== undefined) return answer(fault, 400)
      const reply = yield* answerOf(request, era)
      return answer(reply, reply.error?.code === codes.method ? 404 : 200)
    })

    /** The 429 of a caller beyond its limit. */
    const limited = (http: HttpServerRequest.HttpServerRequest, request: Message.Request | undefined) =>
      toMiddleware(limiter.take(requests, addresses.of(http))).pipe(
        Effect.as(undefined),
        Effect.catchTag("Exceeded", ({ remaining, retryAfter, window }) => {
          const message = `The limit of ${window.says} is reached; try again in ${retryAfter} s`
          const reply = Message.failed(request?.id ?? noId(http.headers), codes.request, message)
          return Effect.succeed(answer(reply, 429, { "retry-after": String(retryAfter), ...headersOf(remaining) }))
        }),
      )

    const post = Effect.fn("Mcp.post")(
      function* (http: HttpServerRequest.HttpServerRequest) {
        const { headers } = http
        if (!mayUseTools(headers["origin"])) {
          return refuse(headers, 403, "Only pages of this machine may call a server of this machine")
        }
        // Clients must list text/event-stream, too. No answer here is a stream, so only JSON counts.
        if (preferred(headers["accept"], ["application/json"]) === undefined) {
          const expected = "Answers are application/json; accept it, and text/event-stream, as the protocol says"
          return refuse(headers, 406, expected)
        }
        const message = Option.getOrUndefined(Message.parse(yield* body.text(http)))
        const request = Message.isRequest(message) ? message : undefined
        const exceeded = isFree(request?.method) ? undefined : yield* limited(http, request)
        if (exceeded !== undefined) return exceeded
        if (request !== undefined) return yield* answered(headers, request)
        if (message === undefined) return refuse(headers, 400, notJson, codes.parse)
        if (Array.isArray(message)) return refuse(headers, 400, "MCP has no batches: send one message for each POST")
        if (!Message.isNotification(message)) {
          return refuse(
            headers,
            400,
            "Not a JSON-RPC 2.0 message. Send jsonrpc, method, params as an object, and an id.",
          )
        }
        const isServed = Message.eraOf(message, headers) === stateless || Message.isHandshaken(headers)
        return isServed ? accepted : unsupported(headers)
      },
      (effect, { headers }) =>
        Effect.catch(effect, ({ code, message }) => {
          const [status, number] = unread[code]
          return Effect.succeed(refuse(headers, status, code === "bad_request" ? notJson : message, number))
        }),
    )

    return Layer.merge(Routes.post(Routes.tools[0], post), Routes.post(Routes.tools[1], post))
  }),
)
