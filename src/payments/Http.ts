/** Paid requests over HTTP: reads a request for the pipeline and writes each outcome as status, headers and body. */
import { Context, Effect, Layer, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import { AttemptNotFound, PaymentFailed, PaymentInvalid, PaymentRequired } from "../../schema/payments/Errors.ts"
import { headersOfUnpaid, reconcilePath } from "../../schema/payments/Endpoint.ts"
import { refundLink } from "../../schema/payments/Refund.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { body, jsonText, refusalOf } from "../http/Responses.ts"
import { cachedByValue, cachedResponse } from "../http/CachedResponse.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import type { Answer, Attempt } from "./store/Attempt.ts"
import { timestampOf } from "../platform/Time.ts"
import { cardCredentialIn, CardRail } from "./card/Rail.ts"
import { addressOf, filled, type PaidAct, type PaidRequest, type PaymentGuard } from "./Act.ts"
import { Refunds } from "./store/Refunds.ts"
import type { Outcome } from "./Challenge.ts"
import { PaymentPipeline } from "./Pipeline.ts"
import { retryAfterSeconds } from "./decision.ts"
import { pendingResponseOf } from "./Receipt.ts"

/** The middleware maps a database error to its answer. No endpoint declares one. */
const toMiddleware = <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchIf(effect, SqlError.isSqlError, Effect.die)

export interface PaidUrl {
  readonly params?: unknown
  readonly query?: unknown
}

const settledBody = ({ extra, permalink, receipt, record }: Answer, replayed: boolean) =>
  JSON.stringify({ ok: true, record, receipt, permalink, ...extra, replayed })

type Unpaid = PaymentRequired | PaymentInvalid | PaymentFailed

const isUnpaid = (error: unknown): error is Unpaid =>
  error instanceof PaymentRequired || error instanceof PaymentInvalid || error instanceof PaymentFailed

/** A 402, serialised once per offer: offers are cached by the pipeline and are its most frequent answer. */
const respondUnpaid = cachedByValue((refusal: Unpaid) =>
  Effect.succeed(
    cachedResponse(JSON.stringify(refusalOf(refusal)), {
      status: 402,
      headers: headersOfUnpaid(refusal),
    }),
  ),
)

export class PaidHttp extends Context.Service<PaidHttp>()("spirit-altar/payments/Http", {
  make: Effect.gen(function* () {
    const pipeline = yield* PaymentPipeline
    const cards = yield* Effect.serviceOption(CardRail)
    const publicUrl = yield* PublicUrl
    const refunds = yield* Refunds

    const openAnswer = (attempt: Attempt) => {
      const { payment } = attempt
      const reconcile = `${publicUrl}${filled(reconcilePath, { idempotencyKey: attempt.idempotencyKey })}`
      const pending: SettlementPending = {
        ok: true,
        code: "settlement_pending",
        message: `The payment of ${priceUsd(attempt.amountAtomic)} was accepted and its outcome is unknown. Do not pay again: POST ${reconcile} until it answers 200 or 402.`,
        reconcile,
        attempt: {
          id: attempt.id,
          act: attempt.act,
          idempotencyKey: attempt.idempotencyKey,
          url: attempt.url,
          amountAtomic: attempt.amountAtomic.toString(),
          network: payment.rail === "card" ? null : payment.network,
          acceptedAt: attempt.acceptedAt,
          validBefore: payment.rail === "card" ? null : timestampOf(Number(payment.authorization.validBefore) * 1000),
        },
      }
      return HttpServerResponse.jsonUnsafe(pending, {
        status: 202,
        headers: {
          location: reconcile,
          "retry-after": String(retryAfterSeconds(attempt.checks)),
          "cache-control": "no-store",
          ...(payment.rail === "card" ? {} : { "payment-response": pendingResponseOf(payment) }),
        },
      })
    }

    const respond = (outcome: Outcome) => {
      if (outcome._tag === "Pending") return openAnswer(outcome.attempt)
      const { answer, payment, paymentResponse } = outcome.attempt
      const name = payment.rail === "card" ? "payment-receipt" : "payment-response"
      const headers = { [name]: paymentResponse, "cache-control": "no-store" }
      const text = settledBody(answer, outcome.replayed)
      return outcome.replayed
        ? jsonText(text, 200, { ...headers, "idempotent-replayed": "true" })
        : jsonText(text, 201, headers)
    }

    /** A 402 lists every way to pay, with a card challenge if cards are taken. A failed key gets no card offer. */
    const unpaid = Effect.fnUntraced(function* <Refusal>(
      refusal: Unpaid,
      act: PaidAct<Refusal>,
      request: PaidRequest,
      source: HttpServerRequest.HttpServerRequest,
    ) {
      const response = yield* respondUnpaid(source, refusal)
      if (refusal instanceof PaymentFailed || Option.isNone(cards)) return response
      const offer = yield* cards.value.offer(act, request)
      return Option.isNone(offer) ? response : HttpServerResponse.setHeader(response, "www-authenticate", offer.value)
    })

    const at = <Refusal>(act: PaidAct<Refusal>, call: PaidUrl) => {
      const { parameters, path } = addressOf(act.endpoint.path, call)
      const url = `${publicUrl}${path}`
      return Effect.fnUntraced(function* (source: HttpServerRequest.HttpServerRequest, guard: PaymentGuard) {
        const { headers, method } = source
        const request: PaidRequest = {
          method,
          url,
          key: headers["idempotency-key"],
          payment: headers["payment-signature"],
          card: cardCredentialIn(headers["authorization"]),
          parameters,
          body: yield* body.text(source),
        }
        return yield* pipeline.run(act, request, guard).pipe(
          Effect.map(respond),
          Effect.catchIf(isUnpaid, (refusal) => unpaid(refusal, act, request, source)),
          toMiddleware,
        )
      })
    }

    /** A settled answer keeps its bytes, so a header links the refund of its payment. */
    const reconcile = Effect.fn("PaidHttp.reconcile")(function* (key: string) {
      const outcome = yield* pipeline.reconcile(key)
      if (Option.isNone(outcome)) return yield* new AttemptNotFound({})
      const { _tag, attempt } = outcome.value
      const response = respond(outcome.value)
      if (_tag === "Pending" || attempt.payment.rail === "card") return response
      const refund = yield* refunds.ofAttempt(attempt.id)
      return Option.isNone(refund) ? response : HttpServerResponse.setHeader(response, "link", refundLink(attempt.id))
    }, toMiddleware)

    return { at, reconcile }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
