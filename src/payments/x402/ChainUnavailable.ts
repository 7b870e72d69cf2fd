/** A question to the node that was not answered. */
import { Schema } from "effect"
import { BaseError, HttpRequestError, RpcRequestError } from "viem"

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

/** What is kept of whatever a question to the node failed with. */
export const unavailable = (method: string, cause: unknown): ChainUnavailable => {
  if (!(cause instanceof BaseError))
    return new ChainUnavailable({ method, reason: "gave an answer that makes no sense" })
  const reason = `${cause.name}: ${cause.shortMessage}`
  const answered = cause.walk((inner) => inner instanceof RpcRequestError)
  if (answered instanceof RpcRequestError) {
    const detail = `${answered.details} ${String(answered.data ?? "")}`
    return new ChainUnavailable({ method, reason, code: answered.code, detail })
  }
  const refused = cause.walk((inner) => inner instanceof HttpRequestError)
  return refused instanceof HttpRequestError && refused.status !== undefined
    ? new ChainUnavailable({ method, reason, status: refused.status })
    : new ChainUnavailable({ method, reason })
}
