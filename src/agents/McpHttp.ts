/** MCP's streamable HTTP without sessions: one message in, one JSON answer or 202 out. */
import { Effect, Layer, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { statusOf } from "../../schema/Refusal.ts"
import { preferred } from "../http/Accept.ts"
import { mayCall } from "../http/Origins.ts"
import { body } from "../http/Responses.ts"
import { limits } from "../altar/Limits.ts"
import type { Limit } from "../limits/Limit.ts"
import { toMiddleware } from "../platform/Sql.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { make as makeMcp } from "./Mcp.ts"
import * as Message from "./McpMessage.ts"
import * as Routes from "./Routes.ts"

export const requests: Limit = [
  { name: "mcp", quota: 120, seconds: 60, says: "120 MCP messages per minute from one address" },
]

const { codes, handshake, stateless } = Message

/**
 * Requests that need neither database nor limiter. A client of both eras takes a 429 of its first request for a server of
 * the older era.
 */
const isFree = (method: string | undefined) => method === "server/discover" || method === "tools/list"

/** Bytes of a message that is read before the limiter is asked. A longer one costs too much to be free. */
const freeBytes = 4096

type Headers = HttpServerRequest.HttpServerRequest["headers"]

const isSmall = (headers: Headers) =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"]) <= freeBytes

const answer = (reply: Message.Reply, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(reply, { status, headers: { "cache-control": "no-store", ...headers } })

/** The id of an answer to a message without one: null in 2025-06-18, absent in 2026-07-28. */
const noId = (headers: Headers) => (Message.eraOfHeaders(headers) === stateless ? undefined : null)

const refuse = (headers: Headers, status: number, message: string, code: number = codes.request) =>
  answer(Message.failed(noId(headers), code, message), status)

/** Without its length Node would send chunks, which some clients read as a stream. */
const accepted = HttpServerResponse.empty({ status: 202, headers: { "content-length": "0" } })

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const answerOf = yield* makeMcp
    const limited = yield* limits
    const mayUseTools = mayCall(yield* PublicUrl)

    /** Fails with the 429 of a caller beyond its limit. */
    const within = (http: HttpServerRequest.HttpServerRequest, id: Message.Reply["id"]) =>
      Effect.mapError(toMiddleware(limited(requests, http)), ({ message, retryAfter }) =>
        answer(Message.failed(id, codes.request, message), 429, { "retry-after": String(retryAfter) }),
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
        if (!isSmall(headers)) yield* within(http, noId(headers))
        const isUnread = ({ code }: { readonly code: string }) => code === "bad_request"
        const text = yield* Effect.catchIf(body.text(http), isUnread, () => Effect.succeed(""))
        const json = Option.getOrUndefined(Message.parse(text))
        const message = Message.isRequest(json) || Message.isNotification(json) ? json : undefined
        if (isSmall(headers) && !isFree(message?.method)) yield* within(http, message?.id ?? noId(headers))
        if (json === undefined) {
          return refuse(headers, 400, "The body is not JSON in UTF-8. Send one JSON-RPC 2.0 message.", codes.parse)
        }
        if (message === undefined) {
          const expected = "Send one message of JSON-RPC 2.0: jsonrpc, id, method, and params, an object; no batches"
          return refuse(headers, 400, expected)
        }
        const { method } = message
        const era = Message.eraOf(message, headers)
        if (era === handshake && method !== "initialize" && !Message.isHandshaken(headers)) {
          return refuse(headers, 400, `Unsupported MCP-Protocol-Version. Send ${Message.versions.join(" or ")}.`)
        }
        if (!Message.isRequest(message)) return accepted
        const fault = era === stateless ? Message.envelopeFault(message, headers) : undefined
        if (fault !== undefined) return answer(fault, 400)
        const reply = yield* answerOf(message, era)
        return answer(reply, era === stateless && reply.error?.code === codes.method ? 404 : 200)
      },
      (effect, { headers }) =>
        Effect.catch(effect, (error) =>
          Effect.succeed(
            HttpServerResponse.isHttpServerResponse(error) ? error : refuse(headers, statusOf(error), error.message),
          ),
        ),
    )

    return Layer.merge(Routes.post(Routes.tools[0], post), Routes.post(Routes.tools[1], post))
  }),
)
