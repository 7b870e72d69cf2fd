/** The shared parts of paid endpoints: payment headers, outcomes and refusals. */
import { Schema } from "effect"
import { Base64 } from "effect/encoding"
import { HttpApiSchema } from "effect/http-api"
import { base64, header, waitSeconds } from "../Fields.ts"
import { headed, waitOf } from "../Refusal.ts"
import { SettlementPending } from "./Act.ts"
import {
  AuthorizationAlreadyBound,
  FacilitatorUnavailable,
  IdempotencyConflict,
  IdempotencyKeyInvalid,
  IdempotencyKeyRequired,
  PaymentFailed,
  PaymentInvalid,
  PaymentRequired,
  PaymentsUnavailable,
  ReconcileRequired,
  SellingPaused,
} from "./Errors.ts"
import { headers as examples } from "./Examples.ts"
import { IdempotencyKey, PaymentSignature } from "./Payment.ts"

const NotNow = Schema.Union([PaymentsUnavailable, SellingPaused, FacilitatorUnavailable])

/** 503: payments are not configured, are paused, or fail at the moment; the last two have `Retry-After`. */
const Unavailable = NotNow.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: NotNow.annotate({
        identifier: "Unavailable",
        description: "Payments are not configured, paused by the operator, or not possible now; the code says which.",
      }).pipe(HttpApiSchema.status(503)),
      headers: { "retry-after": Schema.optionalKey(waitSeconds("Seconds to wait, where waiting helps.")) },
    },
    headed((error) => {
      const wait = waitOf(error)
      return wait === undefined ? {} : { "retry-after": String(wait) }
    }),
  ),
)

const unkept = {
  "cache-control": Schema.optionalKey(header("`no-store`: no cache may keep it for another caller.", "no-store")),
}

export const paymentResponse = {
  "payment-response": base64(
    "Base64 of the JSON x402 v2 settlement: success, transaction, network, payer, and extensions with a signed receipt where the server has a receipt key.",
    examples.response,
  ),
}

const Unpaid = Schema.Union([PaymentRequired, PaymentInvalid, PaymentFailed])

const unpaidBody = Unpaid.annotate({
  identifier: "PaymentRefusal",
  description: "Payment required, invalid or failed; the code says which.",
}).pipe(HttpApiSchema.status(402))

const unpaidHeaders = {
  "payment-required": base64("Base64 of the JSON x402 v2 challenge.", examples.required),
  "payment-response": Schema.optionalKey(
    base64(
      "With `payment_failed` of a payment on chain: Base64 of the JSON x402 v2 settlement, `success` false and its `errorReason`.",
      examples.failed,
    ),
  ),
  "cache-control": header("`no-store`: a challenge is for one request.", "no-store"),
}

const encoded = (value: object) => Base64.encode(JSON.stringify(value))

/** The headers of a 402. */
export const headersOfUnpaid = (error: typeof Unpaid.Type) => ({
  "payment-required": encoded(error.challenge),
  ...("settlement" in error && error.settlement !== undefined ? { "payment-response": encoded(error.settlement) } : {}),
  "cache-control": "no-store",
})

const unpaid = headed(headersOfUnpaid)

/** Every 402: the refusal as body, and its challenge also in `PAYMENT-REQUIRED`. */
export const PaymentRefusal = Unpaid.pipe(
  HttpApiSchema.encodeToWithHeaders({ body: unpaidBody, headers: unpaidHeaders }, unpaid),
)

/** The 402 of a route that is also sold for cards. */
export const CardPaymentRefusal = Unpaid.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: unpaidBody,
      headers: {
        ...unpaidHeaders,
        "www-authenticate": Schema.optionalKey(
          header(
            "On the week and month routes of a server that takes cards: a challenge of the Machine Payments Protocol for this request alone.",
            'Payment id="fuFrdaXF", realm="altar.example", method="stripe", intent="charge", request="eyJhbW91bnQiOiIzMDAifQ"',
            /^Payment id="[^"]+", realm="[^"]+", method="stripe", intent="charge", [ -~]+$/u,
            2048,
          ),
        ),
      },
    },
    unpaid,
  ),
)

/** 202 with the reconcile URL and the wait. */
export const Pending = HttpApiSchema.WithHeaders(SettlementPending.pipe(HttpApiSchema.status(202)), {
  location: header(
    "The reconcile URL.",
    "https://altar.example/api/reconcile/stone-2026-11-21-a1b2c3",
    /^https?:\/\/[^/]+\/api\/reconcile\/[A-Za-z0-9_-]{12,128}$/u,
    2048,
  ),
  "retry-after": waitSeconds(),
  "payment-response": Schema.optionalKey(
    base64(
      "Base64 of the JSON x402 v2 settlement while its outcome is unknown: `success` false, `errorReason` `settlement_pending`, and the transaction where it is known. It is no failure: do not pay again. A card payment has none.",
      examples.pending,
    ),
  ),
  ...unkept,
})

/** The headers of an answer that was paid on chain or by card. */
export const anyRailHeaders = {
  "payment-response": Schema.optionalKey(paymentResponse["payment-response"]),
  "payment-receipt": Schema.optionalKey(
    header(
      "For a card payment: base64url of the JSON receipt of the Machine Payments Protocol.",
      "eyJtZXRob2QiOiJzdHJpcGUifQ",
      /^[A-Za-z0-9_-]+$/u,
      2048,
    ),
  ),
  ...unkept,
}

/** 200 for a replay, 201 for the first answer, 202 while the outcome is unknown. */
const outcomes = <S extends Schema.Top, Headers extends Schema.Struct.Fields>(answer: S, headers: Headers) =>
  [
    HttpApiSchema.WithHeaders(answer.pipe(HttpApiSchema.status(200)), {
      ...headers,
      "idempotent-replayed": header("`true`: this answer is a replay.", "true"),
    }),
    HttpApiSchema.WithHeaders(answer.pipe(HttpApiSchema.status(201)), headers),
    Pending,
  ] as const

export const settled = <S extends Schema.Top>(answer: S) => outcomes(answer, { ...paymentResponse, ...unkept })

/** The same for an act that may be paid by card. */
export const settledByAnyRail = <S extends Schema.Top>(answer: S) => outcomes(answer, anyRailHeaders)

export const reconcilePath = "/api/reconcile/:idempotencyKey"

export const paidHeaders = {
  "idempotency-key": Schema.optionalKey(IdempotencyKey),
  "payment-signature": Schema.optionalKey(PaymentSignature),
}

const beforePayment = [
  IdempotencyKeyRequired,
  IdempotencyKeyInvalid,
  IdempotencyConflict,
  AuthorizationAlreadyBound,
  ReconcileRequired,
  Unavailable,
] as const

export const paidErrors = [...beforePayment, PaymentRefusal] as const

/** The same for an act that may be paid by card. */
export const anyRailErrors = [...beforePayment, CardPaymentRefusal] as const
