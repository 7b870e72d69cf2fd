/** The answers of free routes: the compiler holds each against its schema, and a read is tagged by its bytes. */
import { Effect, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BadRequest } from "../../schema/Errors.ts"
import { issuesOf } from "../platform/Issues.ts"
import { freshJson, readJson } from "../platform/http/Responses.ts"

type Request = HttpServerRequest.HttpServerRequest

/**
 * The answer of a read whose body has a schema: 304 for whoever has these very bytes. What the contract says travels as
 * it is in memory, so it is written as it stands.
 */
export const answer =
  <Body extends object>(_: Schema.Codec<Body, Schema.Json>) =>
  (request: Request, body: Body) =>
    freshJson(request, body)

/** The answer of something that is done once: 201 the first time, 200 for the same again. */
export const once =
  <Body extends { readonly replayed: boolean }>(_: Schema.Codec<Body, Schema.Json>) =>
  (body: Body) =>
    HttpServerResponse.jsonUnsafe(body, { status: body.replayed ? 200 : 201 })

/** The body of a free POST in its documented form, or a `bad_request` that says where it is not. */
export const bodyAs = <Body>(schema: Schema.Codec<Body, Schema.Json>) => {
  const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error", errors: "all" })
  return (request: Request) =>
    Effect.flatMap(readJson(request), (json) =>
      Effect.mapError(decode(json), (error) => new BadRequest({ issues: issuesOf(error) })),
    )
}
