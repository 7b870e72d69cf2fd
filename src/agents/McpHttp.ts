/** MCP's streamable HTTP without sessions: one message in, one JSON answer or 202 out. */
import { Effect, Layer, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { preferred } from "../http/Accept.ts"
import { mayCall } from "../http/Origins.ts"
import { body } from "../http/Responses.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { headersOf, type Limit } from "../limits/Limit.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import { toMiddleware } from "../platform/Sql.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { codes, failed, type Reply, Request, OneWayMessage, withoutNulls } from "./JsonRpc.ts"
import { make as makeMcp } from "./Mcp.ts"
import { envelopeFault, eraOf, eraOfHeaders, handshake, isHandshaken, stateless, versions } from "./McpEra.ts"
import * as Routes from "./Routes.ts"

export const requests: Limit = [
  { name: "mcp", quota: 120, seconds: 60, says: "120 MCP messages per minute from one address" },
]

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
const isRequest = Schema.is(Request)
const isSilent = Schema.is(OneWayMessage)

const answer = (reply: Reply, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(reply, { status, headers: { "cache-control": "no-store", ...headers } })

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

/** Bytes of a request that is read before the limiter is asked. Longer bodies cost too much to be free. */
const freeBytes = 4096

const mayBeFree = (headers: Headers) =>
  eraOfHeaders(headers) === stateless &&
  headers["transfer-encoding"] === undefined &&
  Number(headers["content-length"]) <= freeBytes

type Headers = HttpServerRequest.HttpServerRequest["headers"]

/** Refuses a message whose id could not be read: 2025-06-18 says null, 2026-07-28 says nothing. */
const refuse = (
  headers: Headers,
  status: number,
  message: string,
  code: number = codes.request,
  more: Record<string, string> = {},
) => answer(failed(eraOfHeaders(headers) === stateless ? undefined : null, code, message), status, more)

const unsupported = (headers: Headers) =>
  isHandshaken(headers["mcp-protocol-version"])
    ? undefined
    : refuse(headers, 400, `Unsupported MCP-Protocol-Version. Send ${versions.join(" or ")}.`)

/** Without its length Node would send chunks, which some clients read as a stream. */
const accepted = HttpServerResponse.empty({ status: 202, headers: { "content-length": "0" } })

/** An answer to a message that asks for nothing. */
const heard = (headers: Headers, message: Schema.Json | undefined) => {
  if (message === undefined) return refuse(headers, 400, notJson, codes.parse)
  if (Array.isArray(message)) return refuse(headers, 400, "MCP has no batches: send one message for each POST")
  const isNew = isSilent(message) && eraOf(message, headers) === stateless
  if (!isSilent(message) || (isNew && !("method" in message))) {
    return refuse(headers, 400, "Not a JSON-RPC 2.0 message. Send jsonrpc, method, params as an object, and an id.")
  }
  return (isNew ? undefined : unsupported(headers)) ?? accepted
}

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const answerOf = yield* makeMcp
    const limiter = yield* RateLimiter
    const addresses = yield* ClientAddress
    const mayUseTools = mayCall(yield* PublicUrl)

    const answered = Effect.fnUntraced(function* (headers: Headers, request: Request) {
      const era = eraOf(request, headers)
      if (era === handshake) {
        const refused = request.method === "initialize" ? undefined : unsupported(headers)
        return refused ?? answer(yield* answerOf(request, era))
      }
      const error = envelopeFault(request, headers)
      if (error !== undefined) return answer({ jsonrpc: "2.0", id: request.id, error }, 400)
      const reply = yield* answerOf(request, era)
      return answer(reply, reply.error?.code === codes.method ? 404 : 200)
    })

    /** Nothing while the caller is within its limit, else the 429. */
    const limited = (http: HttpServerRequest.HttpServerRequest, request?: Request) =>
      toMiddleware(limiter.take(requests, addresses.of(http))).pipe(
        Effect.as(undefined),
        Effect.catchTag("Exceeded", ({ remaining, retryAfter, window }) => {
          const message = `The limit of ${window.says} is reached; try again in ${retryAfter} s`
          const headers = { "retry-after": String(retryAfter), ...headersOf(remaining) }
          return Effect.succeed(
            request === undefined
              ? refuse(http.headers, 429, message, codes.request, headers)
              : answer(failed(request.id, codes.request, message), 429, headers),
          )
        }),
      )

    const post = Effect.fn("Mcp.post")(
      function* (http: HttpServerRequest.HttpServerRequest) {
        const { headers } = http
        if (!mayUseTools(headers["origin"])) {
          return refuse(headers, 403, "Only pages of this machine may call a server of this machine")
        }
        const isReadFirst = mayBeFree(headers)
        const first = isReadFirst ? undefined : yield* limited(http)
        if (first !== undefined) return first
        // Clients must list text/event-stream, too. No answer here is a stream, so only JSON counts.
        if (preferred(headers["accept"], ["application/json"]) === undefined) {
          const expected = "Answers are application/json; accept it, and text/event-stream, as the protocol says"
          return refuse(headers, 406, expected)
        }
        const message = Option.getOrUndefined(Option.map(parse(yield* body.text(http)), withoutNulls))
        const request = isRequest(message) ? message : undefined
        const second = isReadFirst && !isFree(request?.method) ? yield* limited(http, request) : undefined
        if (second !== undefined) return second
        return request === undefined ? heard(headers, message) : yield* answered(headers, request)
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
