/** A paid request as HTTP: what the pipeline is handed, and each of its outcomes as status, headers and bytes. */
import { Context, Effect, Layer, Option, type Schema } from "effect"
import { Base64 } from "effect/encoding"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { SettlementPending } from "../../schema/altar/Act.ts"
import { AttemptNotFound, type PaymentFailed, PaymentRequired } from "../../schema/altar/Errors.ts"
import { priceUsd } from "../../schema/altar/Payment.ts"
import { jsonText, readBody, refuse } from "../http/Responses.ts"
import { PublicUrl } from "../PublicUrl.ts"
import { type Attempt, timestampOf } from "./Attempt.ts"
import type { PaidAct } from "./PaidAct.ts"
import { type Outcome, PaymentPipeline, type PipelineRefusal } from "./PaymentPipeline.ts"
import { nextLook } from "./Reconciler.ts"

/** What an endpoint of a paid act has decoded. */
export interface PaidCall {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly headers: { readonly "idempotency-key"?: string; readonly "payment-signature"?: string }
  /** Path below the public URL, with its query: what has to be signed. */
  readonly path: string
  readonly parameters: Schema.JsonObject
}

const replay = (answer: string) => `${answer.slice(0, -"false}".length)}true}`

const isOffer = (error: unknown): error is PaymentRequired => error instanceof PaymentRequired

const written = new WeakMap<PaymentRequired, HttpServerResponse.HttpServerResponse>()

/** The 402 of an offer, written once: offers are kept by the pipeline and asked for most of all. */
const offerResponse = (offer: PaymentRequired) => {
  const known = written.get(offer)
  if (known !== undefined) return known
  const response = refuse(402, offer, { "payment-required": Base64.encode(JSON.stringify(offer.challenge)) })
  written.set(offer, response)
  return response
}

export class PaidHttp extends Context.Service<
  PaidHttp,
  {
    readonly pay: <Refusal>(
      act: PaidAct<Refusal>,
      call: PaidCall,
    ) => Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      Effect.Error<ReturnType<typeof readBody>> | PipelineRefusal | Refusal
    >
    readonly reconcile: (
      key: string,
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, AttemptNotFound | PaymentFailed>
  }
>()("spirit-altar/payments/PaidHttp") {
  static readonly layer = Layer.effect(
    PaidHttp,
    Effect.gen(function* () {
      const pipeline = yield* PaymentPipeline
      const publicUrl = yield* PublicUrl

      const pending = (attempt: Attempt) => {
        const reconcile = `${publicUrl}/api/reconcile/${attempt.idempotencyKey}`
        const body: SettlementPending = {
          ok: true,
          code: "settlement_pending",
          message: `The payment of ${priceUsd(attempt.authorization.value)} was handed in and its outcome is not known yet. Do not pay again: POST ${reconcile} until it answers 200 or 402.`,
          reconcile,
          attempt: {
            id: attempt.id,
            act: attempt.act,
            idempotencyKey: attempt.idempotencyKey,
            url: attempt.url,
            amountAtomic: attempt.authorization.value.toString(),
            network: attempt.network,
            acceptedAt: attempt.acceptedAt,
            validBefore: timestampOf(Number(attempt.authorization.validBefore) * 1000),
          },
        }
        return HttpServerResponse.jsonUnsafe(body, {
          status: 202,
          headers: {
            location: reconcile,
            "retry-after": String(nextLook(attempt.checks)),
            "cache-control": "no-store",
          },
        })
      }

      const respond = (outcome: Outcome) => {
        if (outcome._tag === "Pending") return pending(outcome.attempt)
        const { answer, paymentResponse } = outcome.attempt
        const headers = { "payment-response": paymentResponse ?? "", "cache-control": "private" }
        return outcome.replayed
          ? jsonText(replay(answer ?? ""), 200, { ...headers, "idempotent-replayed": "true" })
          : jsonText(answer ?? "", 201, headers)
      }

      const pay = Effect.fn("PaidHttp.pay")(
        function* <Refusal>(act: PaidAct<Refusal>, call: PaidCall) {
          const body = yield* readBody(call.request)
          const outcome = yield* pipeline
            .run(act, {
              method: call.request.method,
              url: `${publicUrl}${call.path}`,
              key: call.headers["idempotency-key"],
              payment: call.headers["payment-signature"],
              parameters: call.parameters,
              body,
            })
            .pipe(Effect.catchTag(["SqlError", "SchemaError"], Effect.die))
          return respond(outcome)
        },
        Effect.catchIf(isOffer, (offer) => Effect.succeed(offerResponse(offer))),
      )

      const reconcile = Effect.fn("PaidHttp.reconcile")(function* (key: string) {
        const outcome = yield* pipeline.reconcile(key).pipe(Effect.catchTag(["SqlError", "SchemaError"], Effect.die))
        if (Option.isNone(outcome)) return yield* new AttemptNotFound({})
        return respond(outcome.value)
      })

      return PaidHttp.of({ pay, reconcile })
    }),
  )
}
