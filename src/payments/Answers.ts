/** Turns an attempt into status, headers and body. Every answer about a purchase is made here. */
import { Context, Effect, Layer, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { SqlError } from "effect/sql"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import { headersOfUnpaid, reconcilePath } from "../../schema/payments/Endpoint.ts"
import { PaymentFailed, PaymentInvalid, PaymentRequired } from "../../schema/payments/Errors.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { type Refund, refundLink } from "../../schema/payments/Refund.ts"
import { cachedByValue, cachedResponse } from "../http/CachedResponse.ts"
import { jsonText, refusalOf } from "../http/Responses.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { filled } from "./Act.ts"
import { retryAfterSeconds } from "./decision.ts"
import { PaymentOffers } from "./Offers.ts"
import { claimOf, isRejected, type PaymentRejected, shownOf } from "./Payment.ts"
import { challengeOf } from "./PaymentTerms.ts"
import type { Order } from "./Rail.ts"
import { Rails } from "./Rails.ts"
import { failedResponseOf, pendingHeadersOf, responseHeaderOf } from "./Receipt.ts"
import type { Attempt, FailedAttempt, PendingAttempt, SettledAttempt } from "./store/Attempt.ts"
import { Refunds } from "./store/Refunds.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"

/** The attempt that a request made or repeated, in its current state. */
export interface Concluded {
  readonly attempt: Attempt
  /** Whether an earlier request made it. */
  readonly isReplay: boolean
}

type Unpaid = PaymentRequired | PaymentInvalid | PaymentFailed

const isUnpaid = (error: unknown): error is Unpaid =>
  error instanceof PaymentRequired || error instanceof PaymentInvalid || error instanceof PaymentFailed

/** A 402, serialised once per offer: offers are cached and are the most frequent answer. */
const respondUnpaid = cachedByValue((refusal: Unpaid) =>
  Effect.succeed(
    cachedResponse(JSON.stringify(refusalOf(refusal)), {
      status: 402,
      headers: headersOfUnpaid(refusal),
    }),
  ),
)

const respondSettled = ({ answer, payment, paymentResponse }: SettledAttempt, isReplay: boolean) => {
  const headers = { [responseHeaderOf(payment)]: paymentResponse, "cache-control": "no-store" }
  const { extra, permalink, receipt, record } = answer
  const text = JSON.stringify({ ok: true, record, receipt, permalink, ...extra, replayed: isReplay })
  return isReplay ? jsonText(text, 200, { ...headers, "idempotent-replayed": "true" }) : jsonText(text, 201, headers)
}

const refundedLate = ({ amountAtomic, payer, transaction }: Refund) =>
  `This payment was found after its attempt had ended unpaid, and ${amountAtomic} atomic USDC were refunded to ${payer} in transaction ${transaction}. To buy, start again with a new Idempotency-Key and a new payment.`

export class Answers extends Context.Service<Answers>()("spirit-altar/payments/Answers", {
  make: Effect.gen(function* () {
    const publicUrl = yield* PublicUrl
    const rails = yield* Rails
    const { invalid, terms } = yield* PaymentOffers
    const unmatched = yield* UnmatchedPayments
    const refunds = yield* Refunds

    const respondPending = (attempt: PendingAttempt) => {
      const { acceptedAt, act, amountAtomic, checks, id, idempotencyKey, payment, url } = attempt
      const reconcile = `${publicUrl}${filled(reconcilePath, { idempotencyKey })}`
      const pending: SettlementPending = {
        ok: true,
        code: "settlement_pending",
        message: `The payment of ${priceUsd(amountAtomic)} was accepted and its outcome is unknown. Do not pay again: POST ${reconcile} until it answers 200 or 402.`,
        reconcile,
        attempt: {
          id,
          act,
          idempotencyKey,
          url,
          amountAtomic: amountAtomic.toString(),
          ...shownOf(payment),
          acceptedAt,
        },
      }
      return HttpServerResponse.jsonUnsafe(pending, {
        status: 202,
        headers: {
          location: reconcile,
          "retry-after": String(retryAfterSeconds(checks)),
          "cache-control": "no-store",
          ...pendingHeadersOf(payment),
        },
      })
    }

    /** The 402 of a failed attempt. A payment of it that was found later is named, with its refund. */
    const failed = Effect.fnUntraced(function* (attempt: FailedAttempt) {
      const { act, amountAtomic, payment, reason, url } = attempt
      const rail = rails.of(payment.rail)
      const challenge = challengeOf(yield* terms, { amountAtomic, url, description: act }, reason)
      const refusal = { reason, challenge, ...failedResponseOf(payment, reason) }
      const late = yield* unmatched.ofFailed(attempt)
      if (Option.isNone(late)) return yield* new PaymentFailed({ ...refusal, ...rail.failure(payment, reason) })
      const refund = yield* refunds.ofPayment(claimOf(payment))
      if (Option.isNone(refund)) return yield* new PaymentFailed({ ...refusal, message: rail.paidLate(late.value) })
      return yield* new PaymentFailed({ ...refusal, message: refundedLate(refund.value), refund: refund.value })
    })

    /** 201, or 200 as a replay, of a settled attempt; 202 of a pending one. Fails with the 402 of a failed one. */
    const ofAttempt = (attempt: Attempt, isReplay: boolean) => {
      switch (attempt.state) {
        case "settled":
          return Effect.succeed(respondSettled(attempt, isReplay))
        case "pending":
          return Effect.succeed(respondPending(attempt))
        case "failed":
          return failed(attempt)
      }
    }

    /** A settled answer keeps its bytes, so a header links the refund of its payment. */
    const ofReconcile = Effect.fnUntraced(function* (attempt: Attempt) {
      const response = yield* ofAttempt(attempt, true)
      if (attempt.state === "pending") return response
      const refund = yield* refunds.ofAttempt(attempt.id)
      return Option.isNone(refund) ? response : HttpServerResponse.setHeader(response, "link", refundLink(attempt.id))
    })

    /** A 402 lists every way to pay. The key of a failed attempt pays no more, so it is offered to no further rail. */
    const unpaid = Effect.fnUntraced(function* (
      refusal: Unpaid,
      order: Order,
      source: HttpServerRequest.HttpServerRequest,
    ) {
      let response = yield* respondUnpaid(source, refusal)
      if (refusal instanceof PaymentFailed) return response
      for (const { offer } of rails.selling(order.act))
        if (offer !== undefined) response = HttpServerResponse.setHeaders(response, yield* offer(order))
      return response
    })

    /** The answer of a purchase, or the 402 of an unpaid one. */
    const ofPurchase = <E, R>(
      purchase: Effect.Effect<Concluded, E | PaymentRejected | Unpaid | SqlError.SqlError, R>,
      order: Order,
      source: HttpServerRequest.HttpServerRequest,
    ) =>
      purchase.pipe(
        Effect.flatMap(({ attempt, isReplay }) => ofAttempt(attempt, isReplay)),
        Effect.catchIf(isRejected, (rejected) => invalid(order, rejected)),
        Effect.catchIf(isUnpaid, (refusal) => unpaid(refusal, order, source)),
      )

    return { ofPurchase, ofReconcile }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
