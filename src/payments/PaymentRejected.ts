/** The refusal of a payment. */
import { Schema } from "effect"

/**
 * A payment that is not accepted. `reason` is the x402 code; `message` tells the payer what to change. `member` is the
 * member of the payment at fault, if one is.
 */
export class PaymentRejected extends Schema.TaggedError<PaymentRejected>()("PaymentRejected", {
  reason: Schema.String,
  message: Schema.String,
  member: Schema.optionalKey(Schema.String),
}) {}
