/** MCP's streamable HTTP for a server without sessions: one message in, one JSON answer or 202 out. */
import { Effect, Layer, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { preferred } from "../http/Accept.ts"
import { mayCall } from "../http/Origins.ts"
import { body } from "../http/Responses.ts"
import { tools as paths } from "../server/Shapes.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { headersOf, type Policy } from "../limits/Policy.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { codes, failed, type Reply, Request, Silent } from "./JsonRpc.ts"
import { Mcp, protocolVersion } from "./Mcp.ts"
import * as Routes from "./Routes.ts"

export const requests: Policy = {
  name: "mcp",
  windows: [{ name: "mcp", quota: 120, seconds: 60, says: "120 MCP messages per minute from one address" }],
}

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
const isRequest = Schema.is(Request)
const isSilent = Schema.is(Silent)

const answer = (reply: Reply, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(reply, { status, headers: { "cache-control": "no-store", ...headers } })

const refuse = (status: number, message: string, code: number = codes.request, headers: Record<string, string> = {}) =>
  answer(failed(null, code, message), status, headers)

/** The HTTP status of each failure to read a body. */
const unread = { too_large: 413, unsupported_media_type: 415, bad_request: 400 } as const

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const mcp = yield* Mcp
    const limiter = yield* RateLimiter
    const addresses = yield* ClientAddress
    const mayUseTools = mayCall(yield* PublicUrl)

    const receive = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, text: string) {
      const message = Option.getOrUndefined(parse(text))
      if (message === undefined) return refuse(400, "The body is not JSON", codes.parse)
      if (Array.isArray(message)) {
        return refuse(400, `${protocolVersion} has no batches: send one message for each POST`)
      }
      const asked = isRequest(message)
      if (!asked && !isSilent(message)) {
        return refuse(400, "Not a JSON-RPC 2.0 message: expected jsonrpc, method, params as an object, and an id")
      }
      const version = request.headers["mcp-protocol-version"]
      const begins = asked && message.method === "initialize"
      if (version !== undefined && version !== protocolVersion && !begins) {
        return refuse(400, `Unsupported MCP-Protocol-Version; this server speaks ${protocolVersion}`)
      }
      return asked ? answer(yield* mcp.answer(message)) : HttpServerResponse.empty({ status: 202 })
    })

    const post = Effect.fn("Mcp.post")(
      function* (request: HttpServerRequest.HttpServerRequest) {
        if (!mayUseTools(request.headers["origin"])) {
          return refuse(403, "Only pages of this machine may call a server of this machine")
        }
        yield* limiter.take(requests, addresses.of(request))
        // Clients must list text/event-stream, too. No answer here is a stream, so only JSON counts.
        if (preferred(request.headers["accept"], ["application/json"]) === undefined) {
          return refuse(406, "Answers are application/json; accept it, and text/event-stream, as the protocol says")
        }
        return yield* receive(request, yield* body.text(request))
      },
      Effect.catchTags({
        Exceeded: ({ remaining, retryAfter, window }) =>
          Effect.succeed(
            refuse(429, `The limit of ${window.says} is reached; try again in ${retryAfter} s`, codes.request, {
              "retry-after": String(retryAfter),
              ...headersOf(remaining),
            }),
          ),
      }),
      Effect.catch(({ code, message }) => Effect.succeed(refuse(unread[code], message))),
    )

    return Layer.merge(Routes.post(paths[0], post), Routes.post(paths[1], post))
  }),
)
