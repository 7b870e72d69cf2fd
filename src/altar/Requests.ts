/** Turns whatever does not decode into a declared refusal of the altar. */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import { AltarRequests, Unknown } from "../../schema/altar/Requests.ts"
import { BadRequest } from "../../schema/Errors.ts"
import { IdempotencyKeyInvalid } from "../../schema/payments/Errors.ts"
import { issuesOf } from "../platform/Issues.ts"
import { refuse } from "../http/Responses.ts"

const refusalOf = (error: HttpApiError.HttpApiSchemaError, endpoint: HttpApiEndpoint.Top) => {
  const issues = issuesOf(error.cause)
  switch (error.kind) {
    case "Params":
      return Effect.succeed(refuse(404, Context.get(endpoint.annotations, Unknown)()))
    case "Headers":
      return issues.some((issue) => issue.path === "idempotency-key")
        ? Effect.succeed(refuse(400, new IdempotencyKeyInvalid({})))
        : Effect.succeed(refuse(400, new BadRequest({ issues })))
    case "Query":
    case "Payload":
      return Effect.succeed(refuse(400, new BadRequest({ issues })))
    // What we answer ourselves does not fit the contract: a fault of ours.
    case "Body":
    case "ResponseHeaders":
      return Effect.die(error)
  }
}

/** An endpoint that declares no query takes none: a signed URL must not carry words that mean nothing. */
const unknownQuery = (request: HttpServerRequest.HttpServerRequest, endpoint: HttpApiEndpoint.Top) => {
  const query = endpoint.query === undefined ? request.url.split("?")[1] : undefined
  if (query === undefined || query === "") return undefined
  const issues = [...new URLSearchParams(query).keys()]
    .slice(0, 20)
    .map((name) => ({ path: name.slice(0, 200).toWellFormed(), message: "This path takes no query parameters" }))
  return refuse(400, new BadRequest({ issues }))
}

export const layer = Layer.succeed(AltarRequests, (httpEffect, { endpoint }) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const refusal = unknownQuery(request, endpoint)
    if (refusal !== undefined) return Effect.succeed(refusal)
    return Effect.catch(httpEffect, (error) =>
      HttpApiError.HttpApiSchemaError.is(error) ? refusalOf(error, endpoint) : Effect.fail(error),
    )
  }),
)
