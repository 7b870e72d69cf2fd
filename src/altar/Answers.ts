/** The answers of free routes, encoded by their schemas. */
import { Effect, Schema, SchemaAST } from "effect"
import { BrokenChain, brokenAt } from "../../schema/altar/BrokenChain.ts"
import { issuesOf } from "../platform/Issues.ts"
import type { ChainBroken } from "./StoredChain.ts"

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

/** Serializes an answer by its schema. */
export const textOf = <Body, Json extends Schema.JsonObject>(schema: Schema.Codec<Body, Json>) => {
  const encode = encoderOf(schema)
  return (body: Body) => Effect.map(encode(body), (json) => JSON.stringify(json))
}

/** The refusal of a broken link, with its sequence. */
export const brokenLink = (what: "stone" | "entry" | "act", { message, sequence }: ChainBroken) =>
  new BrokenChain({ message: brokenAt(`${what} ${sequence}`, message), sequence })

export const brokenIn = (what: "stone" | "entry" | "act") => (error: ChainBroken) =>
  Effect.fail(brokenLink(what, error))
