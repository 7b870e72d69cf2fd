/** A payment that is not taken. */
import { Schema } from "effect"

/** The payment does not fit; `reason` is the x402 code, `message` tells the payer what to change. */
export class PaymentRejected extends Schema.TaggedError<PaymentRejected>()("PaymentRejected", {
  reason: Schema.String,
  message: Schema.String,
}) {}
