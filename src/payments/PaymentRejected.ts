/** The refusal of a payment. */
import { Schema } from "effect"

/** A payment that is not accepted. `reason` is the x402 code; `message` tells the payer what to change. */
export class PaymentRejected extends Schema.TaggedError<PaymentRejected>()("PaymentRejected", {
  reason: Schema.String,
  message: Schema.String,
}) {}
