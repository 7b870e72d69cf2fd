/** A path and its methods; other methods get a 405 with `Allow`, as on the contract's paths. */
import { Effect } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { altar } from "../server/ErrorFormats.ts"

type Handler<E, R> = (
  request: HttpServerRequest.HttpServerRequest,
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

const route =
  (allowed: ReadonlyArray<string>) =>
  <E, R>(path: `/${string}`, handler: Handler<E, R>) =>
    HttpRouter.add("*", path, (request) =>
      allowed.includes(request.method) ? handler(request) : Effect.succeed(altar.methodNotAllowed(allowed.join(", "))),
    )

/** `OPTIONS` is answered for all paths before any route. */
export const get = route(["GET", "HEAD", "OPTIONS"])
export const post = route(["OPTIONS", "POST"])
