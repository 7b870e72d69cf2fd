/** Refusals of a paid request, before and after payment. */
import { Schema } from "effect"
import { listOf, sentence } from "../Fields.ts"
import { Timestamp } from "../Common.ts"
import { at, envelope, messageOf, nothingNow } from "../Refusal.ts"
import { Challenge, SettlementResponse } from "./Payment.ts"
import { Refund } from "./Refund.ts"

const challenged = { challenge: Challenge }

export class IdempotencyKeyRequired extends Schema.Error<IdempotencyKeyRequired>("IdempotencyKeyRequired")(
  envelope(
    "idempotency_key_required",
    "The payment has no key.",
    "Send an Idempotency-Key header of 12 to 128 characters of A-Z a-z 0-9 _ -, or set the payment-identifier id of the payment.",
  ),
  at(400, "A payment came without an Idempotency-Key header and without a payment-identifier id."),
) {}

export class IdempotencyKeyInvalid extends Schema.Error<IdempotencyKeyInvalid>("IdempotencyKeyInvalid")(
  envelope(
    "idempotency_key_invalid",
    "The Idempotency-Key is malformed.",
    "Send 12 to 128 characters of A-Z a-z 0-9 _ -.",
  ),
  at(400, "The Idempotency-Key is malformed."),
) {}

export class PaymentRequired extends Schema.Error<PaymentRequired>("PaymentRequired")(
  {
    ...envelope(
      "payment_required",
      "This request has to be paid.",
      "Sign the offer in PAYMENT-REQUIRED for this exact URL and send the same request again with PAYMENT-SIGNATURE.",
      "Nothing was charged or reserved.",
    ),
    ...challenged,
  },
  at(402, "Payment required. Nothing is reserved."),
) {}

export class PaymentInvalid extends Schema.Error<PaymentInvalid>("PaymentInvalid")(
  {
    ...envelope(
      "payment_invalid",
      "The payment does not match this offer; reason says where.",
      "Sign the offer in challenge and send that.",
    ),
    reason: sentence("authorization_expired", 200).annotate({ description: "The x402 code of the fault." }),
    member: Schema.optionalKey(sentence("payload.authorization.validBefore", 200)).annotateKey({
      description: "The member of the payment at fault, or its header; absent if no single member is.",
    }),
    ...challenged,
  },
  at(
    402,
    "The payment does not match this offer or cannot be settled. This request charged nothing. If the authorization was used before, the message says how.",
  ),
) {}

export class PaymentFailed extends Schema.Error<PaymentFailed>("PaymentFailed")(
  {
    ...envelope(
      "payment_failed",
      "This payment did not settle and never will.",
      "Start again with a new Idempotency-Key.",
      "Nothing was charged.",
    ),
    reason: sentence("authorization_expired", 200).annotate({ description: "The x402 code of the fault." }),
    authorizationOpenUntil: Schema.optionalKey(Timestamp).annotateKey({
      description:
        "The payment was not charged so far, and its authorization could still be used until this time. Ask with the same key some minutes later, or cancel the authorization on chain, before you sign again. Should it be used, the payment is recorded and paid back.",
    }),
    settlement: Schema.optionalKey(SettlementResponse).annotateKey({
      description: "The content of `PAYMENT-RESPONSE`; absent for a card.",
    }),
    refund: Schema.optionalKey(Refund).annotateKey({
      description: "The refund of a payment that was found after its attempt had ended.",
    }),
    ...challenged,
  },
  at(
    402,
    "Evidence shows that the attempt failed. `authorizationOpenUntil` is present while its authorization could still be used. Use a new Idempotency-Key.",
  ),
) {}

export class AttemptNotFound extends Schema.Error<AttemptNotFound>("AttemptNotFound")(
  envelope(
    "attempt_not_found",
    "No paid request was accepted under this Idempotency-Key.",
    "Check the key. If you sent a payment under it, repeat that same request with this key; do not sign another.",
    "Nothing was charged under this key.",
  ),
  at(404, "No such attempt."),
) {}

export class IdempotencyConflict extends Schema.Error<IdempotencyConflict>("IdempotencyConflict")(
  envelope(
    "idempotency_conflict",
    "This Idempotency-Key belongs to another purchase: all buyers share one namespace of keys.",
    "Draw a new random key for this purchase. If the other purchase is yours, repeat its URL and body unchanged.",
  ),
  at(409, "The key names another purchase."),
) {}

export class AuthorizationAlreadyBound extends Schema.Error<AuthorizationAlreadyBound>("AuthorizationAlreadyBound")(
  envelope(
    "payment_authorization_already_bound",
    "This payment authorization already belongs to another Idempotency-Key.",
    "Repeat that request, or sign a new payment.",
  ),
  at(409, "The signed authorization is bound to another attempt for ever, even after that one settled or failed."),
) {}

/** Maximum payments of one wallet in flight. */
export const openPaymentsMaximum = 64

/** The maximum for a wallet that has never paid here, plus as many for each payment that it has made. */
export const firstPaymentsMaximum = 5

const tooManyInFlight = (most: number) =>
  `A wallet may have ${firstPaymentsMaximum} payments in flight here, ${firstPaymentsMaximum} more for each payment it has made, and ${openPaymentsMaximum} at most. For an hour after one of its payments failed on chain, it may have one. The limit of this wallet is ${most} now.`

const toReconcile =
  "POST /api/reconcile/{Idempotency-Key} for each payment in flight, then send the same request again."

export class ReconcileRequired extends Schema.Error<ReconcileRequired>("ReconcileRequired")(
  envelope("reconcile_required", tooManyInFlight(firstPaymentsMaximum), toReconcile),
  at(
    409,
    `This wallet has reached its limit of payments in flight: ${firstPaymentsMaximum}, ${firstPaymentsMaximum} more for each payment it has made, and ${openPaymentsMaximum} at most. For an hour after one of its payments failed on chain, the limit is one.`,
  ),
) {
  /** The refusal of a wallet whose limit is `most` now. */
  static readonly of = (most: number) =>
    new ReconcileRequired({ message: messageOf(tooManyInFlight(most), toReconcile, nothingNow).message })
}

export class PaymentsUnavailable extends Schema.Error<PaymentsUnavailable>("PaymentsUnavailable")(
  {
    ...envelope(
      "payments_unavailable",
      "Payments are not configured on this server. The free routes work.",
      "Buy from a server that sells, or ask the operator of this one.",
    ),
    missing: listOf(sentence("PAY_TO"), 20).annotate({ description: "Settings that this server lacks." }),
  },
  at(503, "Payments are not configured."),
) {}

/** Seconds to wait before asking a paused server again. */
export const pauseSeconds = 60

export class SellingPaused extends Schema.Error<SellingPaused>("SellingPaused")(
  envelope(
    "selling_paused",
    "The operator has paused sales on this altar. Payments in flight still complete, and the free routes work.",
    "Send the same request again later.",
  ),
  at(503, "The operator has paused sales. This request charged nothing.", pauseSeconds),
) {}

export class FacilitatorUnavailable extends Schema.Error<FacilitatorUnavailable>("FacilitatorUnavailable")(
  envelope("facilitator_unavailable", "The payment network is unreachable now.", "Send the same request again later."),
  at(
    503,
    "The chain does not answer, the facilitator does not confirm that it settles, or our relayer cannot pay the network's fee. This request charged nothing.",
    5,
  ),
) {}
