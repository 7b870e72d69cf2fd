/** For every service: rejects a request that the contract cannot decode, or with an undeclared query, in its format. */
import { Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiError, type HttpApiMiddleware } from "effect/http-api"
import type { Issue } from "../../schema/Errors.ts"
import { issuesOf, shown } from "../platform/Issues.ts"

type Response = HttpServerResponse.HttpServerResponse

/** A service's responses to invalid requests. */
interface Service {
  /** A path parameter names nothing. */
  readonly unknown: (endpoint: HttpApiEndpoint.Top) => Response
  readonly malformed: (
    issues: ReadonlyArray<Issue>,
    part: HttpApiError.HttpApiSchemaError["kind"],
    request: HttpServerRequest.HttpServerRequest,
  ) => Response
  /** The endpoint takes no query; these are the names in it. */
  readonly undeclared: (names: ReadonlyArray<string>) => Response
}

/** An endpoint without a declared query takes none: a signed URL must carry neither meaningless words nor a token. */
const undeclaredIn = ({ url }: HttpServerRequest.HttpServerRequest, endpoint: HttpApiEndpoint.Top) => {
  const query = endpoint.query === undefined ? (url.split("?")[1] ?? "") : ""
  if (query === "") return undefined
  return [...new URLSearchParams(query).keys()].slice(0, 20).map((name) => shown(name, 200))
}

export const refusedBy =
  ({ malformed, undeclared, unknown }: Service): HttpApiMiddleware.HttpApiMiddleware<never, never, never> =>
  (httpEffect, { endpoint }) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const names = undeclaredIn(request, endpoint)
      if (names !== undefined) return Effect.succeed(undeclared(names))
      return Effect.catch(httpEffect, (error) => {
        if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
        // The server's own response violates the contract, which is a bug.
        if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
        return Effect.succeed(
          error.kind === "Params" ? unknown(endpoint) : malformed(issuesOf(error.cause), error.kind, request),
        )
      })
    })
