/** A question to the node that was not answered. */
import { Schema } from "effect"

/**
 * The chain could not be asked; says nothing about any payment. It is logged, so it holds neither the node's address, in
 * which providers put their key, nor what was asked.
 */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  method: Schema.String,
  /** What kind of failure it was, in a few words. */
  reason: Schema.String,
  /** HTTP status of a refusal. */
  status: Schema.optionalKey(Schema.Finite),
  /** The node's own JSON-RPC error: its code, and its text with the data of a revert. */
  code: Schema.optionalKey(Schema.Finite),
  detail: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    return [this.method, this.reason, this.status, this.code].filter((part) => part !== undefined).join(" ")
  }
}

/** The node answered, but not this question. */
export const senseless = (method: string) =>
  new ChainUnavailable({ method, reason: "gave an answer that makes no sense" })
