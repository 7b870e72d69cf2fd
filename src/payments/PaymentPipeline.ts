/** The one way of a paid request: replay, checks, challenge, verification, intent, settlement, record (decisions.md §4). */
import { createHash } from "node:crypto"
import { Clock, Context, Duration, Effect, Fiber, FiberSet, Layer, Option, Schema } from "effect"
import type { SqlError } from "effect/sql"
import {
  AuthorizationAlreadyBound,
  FacilitatorUnavailable,
  IdempotencyConflict,
  type IdempotencyKeyInvalid,
  type IdempotencyKeyRequired,
  PaymentFailed,
  PaymentInvalid,
  PaymentRequired,
  PaymentsUnavailable,
} from "../../schema/payments/Errors.ts"
import { BadRequest, RateLimited } from "../../schema/Errors.ts"
import type { Attempt } from "./ledger/Attempt.ts"
import { timestampOf } from "../platform/Time.ts"
import { canonicalJson } from "../platform/CanonicalJson.ts"
import { CardRail } from "./card/CardRail.ts"
import type { SoldAct, PaidAct } from "./PaidAct.ts"
import { keyOf } from "./x402/PaymentIdentifier.ts"
import { type NewAttempt, PaymentLedger, type Standing } from "./ledger/PaymentLedger.ts"
import { challengeOf, PaymentTerms, requirementsOf, saleOf, type Terms } from "./PaymentTerms.ts"
import { PaymentRejected } from "./x402/PaymentVerifier.ts"
import { Purses } from "./ledger/Purses.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement, type Submission } from "./Settlement.ts"
import { Tenders } from "./x402/Tender.ts"

/** A paid request after its path and query were read. */
export interface PaidRequest {
  readonly method: string
  /** The canonical absolute URL, as it has to be signed. */
  readonly url: string
  readonly key: string | undefined
  /** `PAYMENT-SIGNATURE` as sent. */
  readonly payment: string | undefined
  /** The `Payment` credential of `Authorization` as sent. */
  readonly card: string | undefined
  /** Path and query parameters that belong to the act's input. */
  readonly parameters: Schema.JsonObject
  /** The body as text; empty when there is none. */
  readonly body: string
}

export type Outcome =
  | { readonly _tag: "Settled"; readonly attempt: Attempt; readonly replayed: boolean }
  | { readonly _tag: "Pending"; readonly attempt: Attempt }

export type PipelineRefusal =
  | BadRequest
  | IdempotencyKeyRequired
  | IdempotencyKeyInvalid
  | PaymentRequired
  | PaymentInvalid
  | PaymentFailed
  | IdempotencyConflict
  | AuthorizationAlreadyBound
  | PaymentsUnavailable
  | FacilitatorUnavailable
  | RateLimited

export type PipelineFault = SqlError.SqlError | Schema.SchemaError

export interface PipelineConfig {
  /** How long a live server may take over one attempt before another may look at it. */
  readonly lease: Duration.Duration
  /** How long a server that stops waits for settlements whose clients have gone. */
  readonly grace: Duration.Duration
}

/** URLs can carry parameters: what is kept must end. */
const offersKept = 1_000

const parseBody = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const fingerprintOf = (request: PaidRequest, body: Schema.Json) =>
  createHash("sha256")
    .update(`${request.method}\n${request.url}\n${canonicalJson(body)}`)
    .digest("hex")

const notJson = () => new BadRequest({ issues: [{ path: "", message: "Expected a valid JSON body" }] })
const strayed = (names: ReadonlyArray<string>) =>
  new BadRequest({ issues: names.map((path) => ({ path, message: "Belongs in the URL, not in the body" })) })
const twice = () =>
  new BadRequest({
    issues: [
      {
        path: "authorization",
        message: "The request pays twice, by PAYMENT-SIGNATURE and by card; send one of them. Nothing was charged",
      },
    ],
  })
const penniless = (charged: string) =>
  new FacilitatorUnavailable({
    message: `This server cannot pay the network's fee of a settlement at the moment, so it sells nothing; send the same request again later. ${charged}`,
  })
const tooManyOpen = () =>
  new RateLimited({
    retryAfter: 5,
    message:
      "This wallet has 64 payments here whose outcome is not known yet; reconcile them, then send the same request again. This request charged nothing.",
  })
const overdrawn = new PaymentRejected({
  reason: "insufficient_funds",
  message:
    "The paying wallet holds less USDC than this price and its payments in flight here; fund it, or wait for them, and send the same request again. This request charged nothing.",
})
const notObject = () => new BadRequest({ issues: [{ path: "", message: "Expected a JSON object" }] })

export class PaymentPipeline extends Context.Service<
  PaymentPipeline,
  {
    /** Carries a paid request as far as evidence goes; once claimed, a disconnect no longer stops it. */
    run<Refusal>(
      act: PaidAct<Refusal>,
      request: PaidRequest,
    ): Effect.Effect<Outcome, PipelineRefusal | Refusal | PipelineFault>
    /** How the attempt under a key ended, after one more look for evidence; none when there is no such attempt. */
    reconcile(key: string): Effect.Effect<Option.Option<Outcome>, PaymentFailed | PaymentsUnavailable | PipelineFault>
  }
>()("spirit-altar/payments/PaymentPipeline") {
  static readonly layer = (config: PipelineConfig) =>
    Layer.effect(
      PaymentPipeline,
      Effect.gen(function* () {
        const setting = yield* PaymentTerms
        const ledger = yield* PaymentLedger
        const tenders = yield* Tenders
        const purses = yield* Purses
        const cards = yield* CardRail
        const settlement = yield* Settlement
        const reconciler = yield* Reconciler
        /** From the claim on, a settlement belongs to the server and not to the request. */
        const settling = yield* FiberSet.make<unknown, unknown>()
        yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(settling), config.grace))

        const terms =
          setting._tag === "Ready"
            ? Effect.succeed(setting.terms)
            : Effect.fail(new PaymentsUnavailable({ missing: setting.missing }))

        /** Offers made so far: the same act at the same URL is offered in the same words. */
        const offers = new Map<string, PaymentRequired>()

        const payable = (
          act: SoldAct,
          request: PaidRequest,
        ): Effect.Effect<never, PaymentRequired | PaymentsUnavailable> =>
          Effect.flatMap(terms, (ready) => {
            const name = `${act.name} ${request.url}`
            const known = offers.get(name)
            if (known !== undefined) return Effect.fail(known)
            const offer = new PaymentRequired({
              challenge: challengeOf(ready, saleOf(act, request.url, request.parameters), "payment_required"),
            })
            if (offers.size < offersKept) offers.set(name, offer)
            return Effect.fail(offer)
          })

        const failed = (attempt: Attempt) =>
          Effect.flatMap(terms, (ready) => {
            const reason = attempt.reason ?? "authorization_expired"
            const sale = { amountAtomic: attempt.amountAtomic, url: attempt.url, description: attempt.act }
            return Effect.fail(new PaymentFailed({ reason, challenge: challengeOf(ready, sale, reason) }))
          })

        /** What an attempt that is on disk answers. */
        const resume = (
          attempt: Attempt,
          replayed: boolean,
        ): Effect.Effect<Outcome, PaymentFailed | PaymentsUnavailable> =>
          attempt.state === "settled"
            ? Effect.succeed({ _tag: "Settled", attempt, replayed })
            : attempt.state === "failed"
              ? failed(attempt)
              : Effect.succeed({ _tag: "Pending", attempt })

        /** The same key again: its own attempt, if this is the same request. */
        const repeated = (attempt: Attempt, fingerprint: string) =>
          attempt.fingerprint === fingerprint ? resume(attempt, true) : Effect.fail(new IdempotencyConflict({}))

        const refuseStanding = <Refusal>(act: PaidAct<Refusal>, standing: Standing) => {
          const loss = standing.losses[0]
          return loss === undefined ? Effect.void : Effect.fail(act.conflict(loss))
        }

        const invalid = (ready: Terms, act: SoldAct, request: PaidRequest, { message, reason }: PaymentRejected) => {
          const sale = saleOf(act, request.url, request.parameters)
          return Effect.fail(new PaymentInvalid({ reason, message, challenge: challengeOf(ready, sale, reason) }))
        }

        /** Hands a claimed payment in; one that is paid already is only looked for. */
        const submit = (
          ready: Terms,
          attempt: Attempt,
          { payload, payment }: NewAttempt,
        ): Effect.Effect<Submission | void> => {
          if (payment.rail === "card") return Effect.void
          if (Option.isSome(payment.transaction)) {
            return Effect.succeed({ _tag: "Submitted", transaction: payment.transaction.value })
          }
          return settlement.submit({
            attempt: attempt.id,
            authorization: payment.authorization,
            requirements: requirementsOf(ready, attempt.amountAtomic),
            payload,
          })
        }

        /** Steps 9 to 12, in a fiber of their own: from the intent on disk on, only evidence stops them. */
        const settle = Effect.fn("PaymentPipeline.settle")(function* <Refusal>(
          act: PaidAct<Refusal>,
          request: PaidRequest,
          ready: Terms,
          intent: NewAttempt,
        ): Effect.fn.Return<Outcome, PipelineRefusal | Refusal | PipelineFault> {
          const claim = yield* ledger.claim(intent)
          if (claim._tag === "Lost") {
            const { attempt, paymentBound } = claim.standing
            if (Option.isSome(attempt)) return yield* repeated(attempt.value, intent.fingerprint)
            if (paymentBound) return yield* new AuthorizationAlreadyBound({})
            yield* refuseStanding(act, claim.standing)
            // What was in the way has just been released.
            return yield* settle(act, request, ready, intent)
          }
          if (claim._tag === "Overdrawn") {
            if (claim.tooMany) return yield* tooManyOpen()
            if (intent.payment.rail === "card" || intent.purse?.isExact !== false) {
              return yield* invalid(ready, act, request, overdrawn)
            }
            // The balance may already be without what is in flight: looked at once more, at one block.
            const purse = yield* purses
              .before(intent.payment.authorization, claim.inFlight)
              .pipe(Effect.mapError(() => new FacilitatorUnavailable({})))
            return yield* settle(act, request, ready, { ...intent, purse })
          }
          const submission = yield* submit(ready, claim.attempt, intent)
          const concluded = yield* reconciler.conclude(claim.attempt, submission ?? undefined)
          return yield* resume(concluded, false)
        })

        const readBody = Effect.fnUntraced(function* (act: SoldAct, request: PaidRequest) {
          const body =
            request.body === "" && act.bodyOptional ? {} : yield* parseBody(request.body).pipe(Effect.mapError(notJson))
          if (!isObject(body)) return yield* notObject()
          const stray = Object.keys(request.parameters).filter((name) => name in body)
          if (stray.length > 0) return yield* strayed(stray)
          return body
        })

        const run = Effect.fn("PaymentPipeline.run")(function* <Refusal>(act: PaidAct<Refusal>, request: PaidRequest) {
          yield* act.checkPath(request.parameters)
          const isPaid = request.payment !== undefined || request.card !== undefined
          if (request.payment !== undefined && request.card !== undefined) return yield* twice()
          if (request.body === "" && request.key === undefined && !isPaid) return yield* payable(act, request)
          const key = yield* keyOf(request)

          const body = yield* readBody(act, request)
          const acceptedAtMillis = yield* Clock.currentTimeMillis
          const at = { millis: acceptedAtMillis, day: timestampOf(acceptedAtMillis).slice(0, 10) }
          const asked = yield* act.read({ ...body, ...request.parameters }, at)
          const fingerprint = fingerprintOf(request, body)
          const { claims } = asked

          const standing = yield* ledger.standing(key, claims)
          if (Option.isSome(standing.attempt)) return yield* repeated(standing.attempt.value, fingerprint)
          yield* refuseStanding(act, standing)
          yield* asked.check
          if (!isPaid) {
            // Who is offered what cannot be settled signs for nothing.
            const isSettled = (yield* settlement.solvent) || Option.isSome(yield* cards.offer(act, request))
            return yield* isSettled ? payable(act, request) : Effect.fail(penniless("Nothing was charged."))
          }

          const ready = yield* terms
          const found = yield* tenders
            .take(act, { ...request, key }, ready)
            .pipe(Effect.catchTag("PaymentRejected", (rejected) => invalid(ready, act, request, rejected)))
          if (found._tag === "Twin") return yield* repeated(found.attempt, fingerprint)
          const { payload, payment, purse } = found
          // What is paid already costs us no gas.
          const isToSettle = payment.rail === "x402" && Option.isNone(payment.transaction)
          if (isToSettle && !(yield* settlement.solvent)) return yield* penniless("This request charged nothing.")
          const intent: NewAttempt = {
            idempotencyKey: key,
            fingerprint,
            act: act.name,
            url: request.url,
            input: asked.input,
            amountAtomic: act.priceAtomic,
            payment,
            payload,
            purse,
            claims,
            acceptedAtMillis,
            leaseMillis: Duration.toMillis(config.lease),
          }
          const fiber = yield* FiberSet.run(settling, settle(act, request, ready, intent))
          return yield* Fiber.join(fiber)
        })

        const reconcile = Effect.fn("PaymentPipeline.reconcile")(function* (key: string) {
          const attempt = yield* ledger.find(key)
          if (Option.isNone(attempt)) return Option.none<Outcome>()
          const concluded = yield* reconciler.conclude(attempt.value)
          return Option.some(yield* resume(concluded, true))
        })

        return PaymentPipeline.of({ run, reconcile })
      }),
    )
}

const isObject = (json: Schema.Json): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)
