/** What every endpoint of the altar shares: how undecodable requests, payments and outcomes look. */
import { Context, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"
import { base64, header } from "../Bounds.ts"
import { SettlementPending } from "./Act.ts"
import type { ActNotFound } from "./Act.ts"
import type { AttemptNotFound } from "./Errors.ts"
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
} from "./Errors.ts"
import {
  BadRequest,
  Internal,
  NotAcceptable,
  NotFound,
  RateLimited,
  TooLarge,
  UnsupportedMediaType,
} from "../Errors.ts"
import type { CandleNotFound } from "../altar/Candle.ts"
import type { ElementNotFound } from "../altar/Collectible.ts"
import type { SpiritNotFound } from "../altar/Spirit.ts"
import type { WitnessNotFound } from "../altar/Witness.ts"
import { IdempotencyKey, PaymentSignature } from "./Payment.ts"
import { dollars, paymentInfo, type Price } from "./Prices.ts"

/** 429 with the true wait, in the body and as a header. */
export const Limited = RateLimited.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: RateLimited,
      headers: { "retry-after": header("Seconds to wait.", "7") },
    },
    {
      decode: ({ body }) => body,
      encode: (error) => ({ body: error, headers: { "retry-after": String(error.retryAfter) } }),
    },
  ),
)

const NotNow = Schema.Union([PaymentsUnavailable, FacilitatorUnavailable])

/** 503: payments are not configured, or cannot be settled or looked up at the moment; then with when to ask again. */
const Unavailable = NotNow.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: NotNow.annotate({
        identifier: "Unavailable",
        description: "Payments are not configured, or not possible at the moment; the code says which.",
      }).pipe(HttpApiSchema.status(503)),
      headers: { "retry-after": Schema.optionalKey(header("Seconds to wait, where waiting helps.", "5")) },
    },
    {
      decode: ({ body }) => body,
      encode: (error) => ({
        body: error,
        headers: error.code === "facilitator_unavailable" ? { "retry-after": "5" } : {},
      }),
    },
  ),
)

/** Turns every undecodable request into a declared refusal; its layer is in the server. */
export class AltarRequests extends HttpApiMiddleware.Service<AltarRequests>()(
  "spirit-altar/schema/payments/AltarRequests",
  {
    error: [BadRequest, TooLarge, UnsupportedMediaType, NotAcceptable, Limited, Internal],
  },
) {}

/** The refusal of a path parameter that names nothing: which 404 an endpoint answers. */
export const Unknown = Context.Reference<() => UnknownError>("spirit-altar/schema/payments/Unknown", {
  defaultValue: () => () => new NotFound({}),
})
export type UnknownError =
  | NotFound
  | SpiritNotFound
  | ElementNotFound
  | WitnessNotFound
  | CandleNotFound
  | ActNotFound
  | AttemptNotFound

/** Said of every answer to a paid request. */
const unkept = {
  "cache-control": Schema.optionalKey(header("`no-store`: no cache on the way keeps it for anyone else.", "no-store")),
}

export const paymentResponse = {
  "payment-response": base64(
    "Base64 of the JSON x402 v2 settlement: success, transaction, network, payer.",
    "eyJzdWNjZXNzIjp0cnVlfQ==",
  ),
}

const Unpaid = Schema.Union([PaymentRequired, PaymentInvalid, PaymentFailed])

const unpaidBody = Unpaid.annotate({
  identifier: "PaymentRefusal",
  description: "Payment required, invalid or failed; the code says which.",
}).pipe(HttpApiSchema.status(402))

const unpaidHeaders = {
  "payment-required": base64("Base64 of the JSON x402 v2 challenge.", "eyJ4NDAyVmVyc2lvbiI6Mn0="),
  "cache-control": header("`no-store`: a challenge is for one request.", "no-store"),
}

const unpaid = {
  decode: ({ body }: { readonly body: typeof Unpaid.Type }) => body,
  encode: (error: typeof Unpaid.Type) => ({
    body: error,
    headers: { "payment-required": Base64.encode(JSON.stringify(error.challenge)), "cache-control": "no-store" },
  }),
}

/** Every 402: the refusal as body, its challenge once more in `PAYMENT-REQUIRED`. */
export const PaymentRefusal = Unpaid.pipe(
  HttpApiSchema.encodeToWithHeaders({ body: unpaidBody, headers: unpaidHeaders }, unpaid),
)

/** The 402 of a route that is sold for cards, too. */
export const CardPaymentRefusal = Unpaid.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: unpaidBody,
      headers: {
        ...unpaidHeaders,
        "www-authenticate": Schema.optionalKey(
          header(
            "On the week and month routes of a server that takes cards: a challenge of the Machine Payments Protocol for this very request.",
            'Payment id="fuFrdaXF", realm="altar.example", method="stripe", intent="charge", request="eyJhbW91bnQiOiIzMDAifQ"',
            2048,
          ),
        ),
      },
    },
    unpaid,
  ),
)

/** 202 with where to ask and when. */
export const Pending = HttpApiSchema.WithHeaders(SettlementPending.pipe(HttpApiSchema.status(202)), {
  location: header("The reconcile URL.", "https://altar.example/api/reconcile/stone-2026-11-21-a1b2c3", 2048),
  "retry-after": header("Seconds to wait before reconciling.", "2"),
  ...unkept,
})

/** 200 the replay, 201 the first answer, 202 not known yet. */
export const settled = <S extends Schema.Top>(answer: S) =>
  [
    HttpApiSchema.WithHeaders(answer.pipe(HttpApiSchema.status(200)), {
      ...paymentResponse,
      ...unkept,
      "idempotent-replayed": header("`true`: this answer was given before.", "true"),
    }),
    HttpApiSchema.WithHeaders(answer.pipe(HttpApiSchema.status(201)), { ...paymentResponse, ...unkept }),
    Pending,
  ] as const

/** The headers of an answer that was paid on chain, or by card. */
export const paidAnyhow = {
  "payment-response": Schema.optionalKey(paymentResponse["payment-response"]),
  "payment-receipt": Schema.optionalKey(
    header(
      "Paid by card instead: base64url of the JSON receipt of the Machine Payments Protocol.",
      "eyJtZXRob2QiOiJzdHJpcGUifQ",
      2048,
    ),
  ),
  ...unkept,
}

/** The same for an act that may be paid by card. */
export const settledAnyhow = <S extends Schema.Top>(answer: S) =>
  [
    HttpApiSchema.WithHeaders(answer.pipe(HttpApiSchema.status(200)), {
      ...paidAnyhow,
      "idempotent-replayed": header("`true`: this answer was given before.", "true"),
    }),
    HttpApiSchema.WithHeaders(answer.pipe(HttpApiSchema.status(201)), paidAnyhow),
    Pending,
  ] as const

export const paidHeaders = {
  "idempotency-key": Schema.optionalKey(IdempotencyKey),
  "payment-signature": Schema.optionalKey(PaymentSignature),
}

const beforePayment = [
  IdempotencyKeyRequired,
  IdempotencyKeyInvalid,
  IdempotencyConflict,
  AuthorizationAlreadyBound,
  Unavailable,
] as const

export const paidErrors = [...beforePayment, PaymentRefusal] as const

/** The same for an act that may be paid by card. */
export const anyhowErrors = [...beforePayment, CardPaymentRefusal] as const

export const described = (identifier: string, summary: string, description: string) =>
  OpenApi.annotations({ identifier, summary, description })

/** The same for a paid act, with its price. */
export const priced = (price: Price, summary: string, description: string) =>
  OpenApi.annotations({
    identifier: price.name,
    summary: `${summary} (${dollars(price.priceAtomic)} USD)`,
    description: `${description} ${paidRule}`,
    override: { "x-payment-info": paymentInfo(price) },
  })

/** Said of the routes that are sold for cards, too. */
export const cardRule =
  "Where the server takes cards (`rails` of /api/candles), WWW-Authenticate on the 402 carries a Machine Payments Protocol challenge as well (`stripe`, `charge`), for this very request; answer it with `Authorization: Payment …` and the same Idempotency-Key."

export const paidRule =
  "Paid by x402 v2 (`exact`, USDC). Send an Idempotency-Key; without PAYMENT-SIGNATURE the answer is 402 with the offer. The signed resource URL must equal this request's URL. A retry with the same key, URL and body never pays twice; 202 means the outcome is not known yet: reconcile, do not pay again."
