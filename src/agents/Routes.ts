/** A path and its methods; other methods get a 405 with `Allow`, as on the contract's paths. */
import { Effect } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { MethodNotAllowed } from "../../schema/Errors.ts"
import { refuse } from "../http/Responses.ts"

/** The paths of the tools, both the same endpoint. */
export const tools = ["/mcp", "/api/mcp"] as const

export const isTool = (path: string) => tools.some((tool) => path === tool)

type Handler = (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse>

const route = (allowed: ReadonlyArray<string>) => (path: `/${string}`, handler: Handler) =>
  HttpRouter.add("*", path, (request) =>
    allowed.includes(request.method)
      ? handler(request)
      : Effect.succeed(refuse(new MethodNotAllowed({}), { allow: allowed.join(", ") })),
  )

/** `OPTIONS` is answered for all paths before any route. */
export const get = route(["GET", "HEAD", "OPTIONS"])
export const post = route(["OPTIONS", "POST"])
