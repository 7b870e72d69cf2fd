/** The answers of free routes: each is encoded by its schema, and a read is tagged by its bytes. */
import { Effect, Schema, SchemaAST } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BadRequest } from "../../schema/Errors.ts"
import { issuesOf } from "../platform/Issues.ts"
import { freshJson, readJson } from "../platform/http/Responses.ts"

type Request = HttpServerRequest.HttpServerRequest

/** What was to be answered is not what the contract promises. It names the members and no values. */
export class MalformedAnswer extends Schema.TaggedError<MalformedAnswer>()("MalformedAnswer", {
  answer: Schema.String,
  members: Schema.Array(Schema.String),
}) {
  override get message() {
    return `${this.answer} does not have its form: ${this.members.join(", ")}`
  }
}

/**
 * Writes a value as the contract says, in the contract's order of members; what the contract does not name stays
 * behind, and what does not fit is a defect.
 */
export const encoderOf = <Body, Json extends Schema.Json>(schema: Schema.Codec<Body, Json>) => {
  const encode = Schema.encodeEffect(schema, { errors: "all" })
  const answer = SchemaAST.resolveIdentifier(schema.ast) ?? "an answer"
  return (body: Body): Effect.Effect<Json> =>
    Effect.catch(encode(body), (error) =>
      Effect.die(new MalformedAnswer({ answer, members: issuesOf(error).map(({ path }) => path) })),
    )
}

/** The answer of a read whose body has a schema: 304 for whoever has these very bytes. */
export const answer = <Body, Json extends Schema.JsonObject>(schema: Schema.Codec<Body, Json>) => {
  const encode = encoderOf(schema)
  return (request: Request, body: Body) => Effect.map(encode(body), (json) => freshJson(request, json))
}

/** The answer of something that is done once: 201 the first time, 200 for the same again. */
export const once = <Body extends { readonly replayed: boolean }>(schema: Schema.Codec<Body, Schema.Json>) => {
  const encode = encoderOf(schema)
  return (body: Body) =>
    Effect.map(encode(body), (json) => HttpServerResponse.jsonUnsafe(json, { status: body.replayed ? 200 : 201 }))
}

/** The body of a free POST in its documented form, or a `bad_request` that says where it is not. */
export const bodyAs = <Body>(schema: Schema.Codec<Body, Schema.Json>) => {
  const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error", errors: "all" })
  return (request: Request) =>
    Effect.flatMap(readJson(request), (json) =>
      Effect.mapError(decode(json), (error) => new BadRequest({ issues: issuesOf(error) })),
    )
}
