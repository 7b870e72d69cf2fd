/** Grants pages of other origins everything outside the room, and nothing in it. */
import type { IncomingMessage } from "node:http"
import { HttpServerResponse } from "effect/http"
import { exposedHeaders } from "../../schema/Common.ts"
import { isTool } from "../agents/Routes.ts"
import { mayCall } from "../http/Origins.ts"
import { isRoom, isRoomPage, pathOf } from "./ErrorFormats.ts"

const exposed = { "access-control-expose-headers": exposedHeaders }

/** Fixed, whatever the origin: shared caches keep one answer for all. */
const open = { "access-control-allow-origin": "*", ...exposed }

/** The headers that grant other origins an answer. A connection's first request has no URL if it cannot be parsed. */
export const grantsOf = (publicUrl: string) => {
  const mayUseTools = mayCall(publicUrl)
  return ({ headers: { origin }, url = "/" }: Pick<IncomingMessage, "headers" | "url">) => {
    const path = pathOf(url)
    if (isRoom(path) || isRoomPage(path)) return {}
    return isTool(path) && !mayUseTools(origin) ? exposed : open
  }
}

/** The headers of the answer to a browser's preflight. `*` allows any further header except `Authorization`, which is named. */
export const allowed = {
  "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
  "access-control-allow-headers": [
    "content-type",
    "accept",
    "authorization",
    "idempotency-key",
    "payment-signature",
    "x-payment",
    "payment-authorization",
    "accept-payment",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "if-none-match",
    "mcp-session-id",
    "last-event-id",
    "sign-in-with-x",
    "access-control-expose-headers",
    "*",
  ].join(","),
  "access-control-max-age": "86400",
}

export const preflight = HttpServerResponse.empty({ status: 204, headers: allowed })
