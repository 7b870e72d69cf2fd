/** Every refusal of the altar: one class a code, its status, and a sentence that says what to do and what was charged. */
import { Effect, Schema } from "effect"
import { anyText, listOf, said, upTo } from "../Bounds.ts"
import { Challenge } from "./Payment.ts"

const nothing = "Nothing was charged."
/** Said where a payment may have been brought that nobody has looked at yet: it may have paid before. */
const nothingNow = "This request charged nothing."

/** The common fields; `code` tells refusals apart, in our code as on the wire. */
const envelope = <const Code extends string>(code: Code, message: string) => ({
  ok: Schema.tag(false),
  code: Schema.tag(code),
  message: said(message, 1000).pipe(Schema.withConstructorDefault(Effect.succeed(message))),
})

const at = (httpApiStatus: number, description: string) => ({ httpApiStatus, description })

export const Issue = Schema.Struct({
  path: said("commitment", 200, anyText).annotate({
    description: "Where, as a JSON pointer without the leading slash; empty for the whole.",
  }),
  message: said("Expected a string matching the RegExp ^[0-9a-f]{64}$", 300, anyText),
}).annotate({ identifier: "Issue", description: "One thing wrong with a request." })
export type Issue = typeof Issue.Type

// 400
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(
  {
    ...envelope(
      "bad_request",
      `The request does not have the documented form; correct it and send it again. ${nothing}`,
    ),
    issues: listOf(Issue, 20),
  },
  at(400, "The request does not have the documented form. Nothing was charged or stored."),
) {}

export class IdempotencyKeyRequired extends Schema.Error<IdempotencyKeyRequired>("IdempotencyKeyRequired")(
  envelope(
    "idempotency_key_required",
    `Send an Idempotency-Key header of 12 to 128 characters of A-Z a-z 0-9 _ - that names this purchase. ${nothing}`,
  ),
  at(400, "A paid request needs an Idempotency-Key header."),
) {}

export class IdempotencyKeyInvalid extends Schema.Error<IdempotencyKeyInvalid>("IdempotencyKeyInvalid")(
  envelope(
    "idempotency_key_invalid",
    `The Idempotency-Key must be 12 to 128 characters of A-Z a-z 0-9 _ -. ${nothing}`,
  ),
  at(400, "The Idempotency-Key is malformed."),
) {}

// 402
const challenged = { challenge: Challenge }

export class PaymentRequired extends Schema.Error<PaymentRequired>("PaymentRequired")(
  {
    ...envelope(
      "payment_required",
      "Sign the offer in PAYMENT-REQUIRED for this exact URL and send the same request again with PAYMENT-SIGNATURE. Nothing was charged or reserved.",
    ),
    ...challenged,
  },
  at(402, "Payment required. Nothing is reserved."),
) {}

export class PaymentInvalid extends Schema.Error<PaymentInvalid>("PaymentInvalid")(
  {
    ...envelope("payment_invalid", `The payment does not fit this offer. ${nothingNow}`),
    reason: said("authorization_expired", 200).annotate({ description: "The x402 code of what was wrong." }),
    ...challenged,
  },
  at(
    402,
    "The payment does not fit this offer or cannot be settled. This request charged nothing; where the authorization itself was used before, the message says what became of it.",
  ),
) {}

export class PaymentFailed extends Schema.Error<PaymentFailed>("PaymentFailed")(
  {
    ...envelope(
      "payment_failed",
      "This payment did not settle and never will. Nothing was charged; start again with a new Idempotency-Key.",
    ),
    reason: said("authorization_expired", 200).annotate({ description: "The x402 code of what was wrong." }),
    ...challenged,
  },
  at(402, "The payment ended without settlement, by evidence. Use a new Idempotency-Key."),
) {}

// 404, 405, 406, 413, 415
export class NotFound extends Schema.Error<NotFound>("NotFound")(
  envelope("not_found", "There is nothing at this path; the routes are listed in /openapi.json."),
  at(404, "No such route."),
) {}

export class SpiritNotFound extends Schema.Error<SpiritNotFound>("SpiritNotFound")(
  envelope("spirit_not_found", `There is no such spirit; the 24 ids are listed at /api/spirits. ${nothing}`),
  at(404, "No such spirit."),
) {}

export class ElementNotFound extends Schema.Error<ElementNotFound>("ElementNotFound")(
  envelope(
    "element_not_found",
    `There is no such item; ids are listed at /api/elements, /api/companions and /api/pixels. ${nothing}`,
  ),
  at(404, "No such collectible."),
) {}

export class WitnessNotFound extends Schema.Error<WitnessNotFound>("WitnessNotFound")(
  envelope("witness_not_found", "There is no settled witness stone with this id; stones are listed at /api/witness."),
  at(404, "No such stone."),
) {}

export class CandleNotFound extends Schema.Error<CandleNotFound>("CandleNotFound")(
  envelope("candle_not_found", "There is no candle or light with this id; lit candles are listed at /api/candles."),
  at(404, "No such candle."),
) {}

export class ActNotFound extends Schema.Error<ActNotFound>("ActNotFound")(
  envelope("act_not_found", "There is no settled act with this id."),
  at(404, "No such act."),
) {}

export class AttemptNotFound extends Schema.Error<AttemptNotFound>("AttemptNotFound")(
  envelope(
    "attempt_not_found",
    "No paid request was accepted under this Idempotency-Key, so nothing was charged under it.",
  ),
  at(404, "No such attempt."),
) {}

export class MethodNotAllowed extends Schema.Error<MethodNotAllowed>("MethodNotAllowed")(
  envelope("method_not_allowed", "This path does not answer that method; the Allow header lists those it does."),
  at(405, "Method not allowed; see Allow."),
) {}

export class NotAcceptable extends Schema.Error<NotAcceptable>("NotAcceptable")(
  envelope("not_acceptable", "This resource is served as application/json or text/html; accept one of them."),
  at(406, "Not acceptable."),
) {}

export class TooLarge extends Schema.Error<TooLarge>("TooLarge")(
  envelope("too_large", `The body or a header is larger than this route allows. ${nothing}`),
  at(413, "Body or header too large."),
) {}

export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(
  envelope("unsupported_media_type", `Send the body as Content-Type: application/json. ${nothing}`),
  at(415, "The body is not JSON."),
) {}

// 409
export class IdempotencyConflict extends Schema.Error<IdempotencyConflict>("IdempotencyConflict")(
  envelope(
    "idempotency_conflict",
    "This Idempotency-Key was used with another URL or body. Repeat the original request, or use a new key for a new purchase. This request charged nothing.",
  ),
  at(409, "The key names another purchase."),
) {}

export class AuthorizationAlreadyBound extends Schema.Error<AuthorizationAlreadyBound>("AuthorizationAlreadyBound")(
  envelope(
    "payment_authorization_already_bound",
    "This payment authorization already belongs to another Idempotency-Key. Repeat that request, or sign a new payment. This request charged nothing.",
  ),
  at(409, "The signed authorization is bound to another attempt, also once that one has settled."),
) {}

export class WitnessCeilingToday extends Schema.Error<WitnessCeilingToday>("WitnessCeilingToday")(
  envelope(
    "witness_ceiling_today",
    `All 5000 witness stones of this UTC day are set or held; come back after midnight UTC. ${nothingNow}`,
  ),
  at(409, "The daily ceiling of 5000 stones is reached."),
) {}

export class CommitmentMismatch extends Schema.Error<CommitmentMismatch>("CommitmentMismatch")(
  envelope(
    "commitment_mismatch",
    "Salt and words do not hash to the stored commitment; check the recipe and the exact text. Nothing was stored.",
  ),
  at(409, "Salt and words do not match the commitment."),
) {}

export class AlreadyRevealed extends Schema.Error<AlreadyRevealed>("AlreadyRevealed")(
  envelope("already_revealed", "This stone was revealed before with other data; the first reveal stands."),
  at(409, "Already revealed."),
) {}

export class WitnessNotSettled extends Schema.Error<WitnessNotSettled>("WitnessNotSettled")(
  envelope(
    "witness_not_settled",
    "The payment of this stone is not settled yet; reconcile the attempt first, do not pay again.",
  ),
  at(409, "The stone is not settled."),
) {}

export class PrayerDayNotToday extends Schema.Error<PrayerDayNotToday>("PrayerDayNotToday")(
  envelope(
    "prayer_day_not_today",
    `A prayer is laid for the current UTC day only; leave the day query out or send today. ${nothingNow}`,
  ),
  at(409, "The day is not today in UTC."),
) {}

export class PrayerAlreadyRecorded extends Schema.Error<PrayerAlreadyRecorded>("PrayerAlreadyRecorded")(
  envelope(
    "prayer_already_recorded",
    `This spirit has its prayer for today; come back after midnight UTC, or choose another spirit. ${nothingNow}`,
  ),
  at(409, "The prayer of this spirit and day is recorded."),
) {}

export class PrayerSlotTaken extends Schema.Error<PrayerSlotTaken>("PrayerSlotTaken")(
  envelope(
    "prayer_slot_taken",
    `A payment in flight holds the prayer slot of this spirit and day; try again in a minute or choose another spirit. ${nothingNow}`,
  ),
  at(409, "The slot is held by a payment in flight."),
) {}

export class AlreadyKept extends Schema.Error<AlreadyKept>("AlreadyKept")(
  envelope(
    "already_kept",
    `This spirit has its first keeper, for ever; /api/spirits lists those without one. ${nothingNow}`,
  ),
  at(409, "The spirit has its first keeper."),
) {}

export class KeeperSlotTaken extends Schema.Error<KeeperSlotTaken>("KeeperSlotTaken")(
  envelope(
    "keeper_slot_taken",
    `A payment in flight holds the keeper record of this spirit; try again in a minute. ${nothingNow}`,
  ),
  at(409, "The keeper record is held by a payment in flight."),
) {}

export class SoldOut extends Schema.Error<SoldOut>("SoldOut")(
  envelope(
    "sold_out",
    `Every edition of this item is issued or reserved; look again later or choose another item. ${nothingNow}`,
  ),
  at(409, "No edition is left."),
) {}

export class ParentNotLit extends Schema.Error<ParentNotLit>("ParentNotLit")(
  envelope(
    "parent_not_lit",
    `parentId names no candle that burns on this altar now; lit candles are listed at /api/candles. ${nothingNow}`,
  ),
  at(409, "The parent is no lit candle of this spirit."),
) {}

export class AlreadyUnsealed extends Schema.Error<AlreadyUnsealed>("AlreadyUnsealed")(
  envelope("already_unsealed", `This candle was unsealed before with other data; the first words stand.`),
  at(409, "Already unsealed."),
) {}

export class CandleNotSettled extends Schema.Error<CandleNotSettled>("CandleNotSettled")(
  envelope(
    "candle_not_settled",
    `The payment of this candle is not settled yet; reconcile the attempt first, do not pay again.`,
  ),
  at(409, "The candle is not settled."),
) {}

export class NotSealed extends Schema.Error<NotSealed>("NotSealed")(
  envelope("not_sealed", `This candle carries no sealed words.`),
  at(409, "There is nothing to unseal."),
) {}

// 422
export class DedicationHeld extends Schema.Error<DedicationHeld>("DedicationHeld")(
  envelope(
    "dedication_held",
    `A dedication must not hold a link, domain, e-mail, IP or wallet address; reword it and send it again. ${nothing}`,
  ),
  at(422, "The dedication points elsewhere."),
) {}

export class CommitmentRefused extends Schema.Error<CommitmentRefused>("CommitmentRefused")(
  envelope(
    "commitment_refused",
    `The all-zero commitment is the example of the documentation; send the commitment of your own words. ${nothing}`,
  ),
  at(422, "The all-zero example commitment."),
) {}

// 429, 500, 503
export class RateLimited extends Schema.Error<RateLimited>("RateLimited")(
  {
    ...envelope("rate_limited", "Too many requests; wait for the time in Retry-After."),
    retryAfter: upTo(604_800).annotate({ description: "Seconds to wait." }),
  },
  at(429, "Too many requests, or more than 64 payments of one wallet whose outcome is not known yet."),
) {}

export class Internal extends Schema.Error<Internal>("Internal")(
  {
    ...envelope(
      "internal",
      "The server failed. If you sent a payment, do not sign another: repeat the same request with the same Idempotency-Key, or POST /api/reconcile/{key}.",
    ),
    requestId: said("3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1").annotate({ description: "Names the fault in our log." }),
  },
  at(500, "A fault of the server."),
) {}

export class PaymentsUnavailable extends Schema.Error<PaymentsUnavailable>("PaymentsUnavailable")(
  {
    ...envelope("payments_unavailable", `Payments are not configured on this server; the free routes work. ${nothing}`),
    missing: listOf(said("PAY_TO"), 20).annotate({ description: "Settings that this server lacks." }),
  },
  at(503, "Payments are not configured."),
) {}

export class FacilitatorUnavailable extends Schema.Error<FacilitatorUnavailable>("FacilitatorUnavailable")(
  envelope(
    "facilitator_unavailable",
    `The payment network cannot be asked at the moment; send the same request again later. ${nothingNow}`,
  ),
  at(
    503,
    "The chain or the facilitator does not answer, or our relayer cannot pay the network's fee. This request charged nothing.",
  ),
) {}
