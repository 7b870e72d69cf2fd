/** The answers of free routes, encoded by their schemas; reads are tagged and cached as bytes. */
import { Effect, Schema, SchemaAST } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BrokenChain, brokenAt } from "../../schema/altar/BrokenChain.ts"
import { issuesOf } from "../platform/Issues.ts"
import { cachedResponse, cachedByValue } from "../http/CachedResponse.ts"
import type { ChainBroken } from "./HashChain.ts"

type Request = HttpServerRequest.HttpServerRequest

/** An answer that breaks the contract. It names members and no values. */
export class MalformedAnswer extends Schema.TaggedError<MalformedAnswer>()("MalformedAnswer", {
  answer: Schema.String,
  members: Schema.Array(Schema.String),
}) {
  override get message() {
    return `${this.answer} does not have its form: ${this.members.join(", ")}`
  }
}

/** Encodes a value in the contract's order of members, without unknown ones; an invalid value is a defect. */
export const encoderOf = <Body, Json extends Schema.Json>(schema: Schema.Codec<Body, Json>) => {
  const encode = Schema.encodeEffect(schema, { errors: "all" })
  const answer = SchemaAST.resolveIdentifier(schema.ast) ?? "an answer"
  return (body: Body): Effect.Effect<Json> =>
    Effect.catch(encode(body), (error) =>
      Effect.die(new MalformedAnswer({ answer, members: issuesOf(error).map(({ path }) => path) })),
    )
}

/** Serializes the result of a read as JSON. */
type Write<Found> = (found: Found) => Effect.Effect<string>

/** Serializes an answer by its schema; `bodyOf` builds the body. */
export const textOf = <Found, Body, Json extends Schema.JsonObject>(
  schema: Schema.Codec<Body, Json>,
  bodyOf: (found: Found) => Body,
): Write<Found> => {
  const encode = encoderOf(schema)
  return (found) => Effect.map(encode(bodyOf(found)), (json) => JSON.stringify(json))
}

/** Answers a read with bytes that are cached together with its result. */
export const cachedAnswer = <Found extends object>(write: Write<Found>) => {
  const respond = cachedByValue((found: Found) => Effect.map(write(found), (text) => cachedResponse(text)))
  return <E>(request: Request, read: Effect.Effect<Found, E>) =>
    Effect.flatMap(read, (found) => respond(request, found))
}

/** The refusal of a broken link, with its sequence. */
export const brokenLink = (what: "stone" | "entry" | "act", { message, sequence }: ChainBroken) =>
  new BrokenChain({ message: brokenAt(`${what} ${sequence}`, message), sequence })

export const brokenIn = (what: "stone" | "entry" | "act") => (error: ChainBroken) =>
  Effect.fail(brokenLink(what, error))

/** The answer of a one-time operation: 201 the first time, 200 for an identical repetition. */
export const oneTimeAnswer = <Body extends { readonly replayed: boolean }>(schema: Schema.Codec<Body, Schema.Json>) => {
  const encode = encoderOf(schema)
  return (body: Body) =>
    Effect.map(encode(body), (json) => HttpServerResponse.jsonUnsafe(json, { status: body.replayed ? 200 : 201 }))
}
