/** The one way of a paid request: replay, checks, challenge, verification, intent, settlement, record. */
import { Clock, Context, Duration, Effect, Fiber, FiberSet, Layer, Option } from "effect"
import {
  AuthorizationAlreadyBound,
  FacilitatorUnavailable,
  IdempotencyConflict,
  type PaymentFailed,
  type PaymentsUnavailable,
} from "../../schema/payments/Errors.ts"
import { timestampOf } from "../platform/Time.ts"
import * as Trace from "../platform/Trace.ts"
import { Availability, notSettled } from "./Availability.ts"
import { changed, settlementTimed } from "./Changes.ts"
import * as Challenges from "./Challenges.ts"
import { CardRail } from "./card/CardRail.ts"
import type { Attempt } from "./ledger/Attempt.ts"
import { Claim } from "./ledger/Claim.ts"
import { isCodeless, type NewAttempt } from "./ledger/NewAttempt.ts"
import { type AttemptState, Lookup } from "./ledger/Lookup.ts"
import { type Outcome, overdrawn, type PipelineRefusal, tooManyOpen } from "./Outcome.ts"
import type { PaidAct } from "./PaidAct.ts"
import { bodyOf, fingerprintOf, type PaidRequest, type PaymentGuard, paidTwice } from "./PaidRequest.ts"
import { isRefused, PaymentCredentials } from "./PaymentCredentials.ts"
import { PaymentRejected } from "./PaymentRejected.ts"
import { requirementsOf, type Terms } from "./PaymentTerms.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement, type Submission } from "./Settlement.ts"
import { PayerBalances } from "./x402/verification/PayerBalances.ts"
import * as PaymentHeader from "./x402/verification/PaymentHeader.ts"
import { keyOf } from "./x402/verification/PaymentHeader.ts"

export interface PipelineConfig {
  /** How long a live server may take over one attempt before another may look at it. */
  readonly lease: Duration.Duration
  /** How long a server that stops waits for settlements whose clients have gone. */
  readonly grace: Duration.Duration
}

const isUnavailable = (refusal: unknown): refusal is FacilitatorUnavailable => refusal instanceof FacilitatorUnavailable

export class PaymentPipeline extends Context.Service<PaymentPipeline>()("spirit-altar/payments/PaymentPipeline", {
  make: Effect.fnUntraced(function* (config: PipelineConfig) {
    const challenges = yield* Challenges.make
    const lookup = yield* Lookup
    const { claim } = yield* Claim
    const availability = yield* Availability
    const credentials = yield* PaymentCredentials
    const balances = yield* PayerBalances
    const cards = yield* CardRail
    const settlement = yield* Settlement
    const reconciler = yield* Reconciler
    /** From the claim on, a settlement belongs to the server and not to the request. */
    const settling = yield* FiberSet.make<unknown, unknown>()
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(settling), config.grace))

    const answerOf = (
      attempt: Attempt,
      replayed: boolean,
    ): Effect.Effect<Outcome, PaymentFailed | PaymentsUnavailable> => {
      switch (attempt.state) {
        case "settled":
          return Effect.succeed({ _tag: "Settled", attempt, replayed })
        case "failed":
          return challenges.failed(attempt)
        case "pending":
          return Effect.succeed({ _tag: "Pending", attempt })
      }
    }

    /** The same key again: its own attempt, if this is the same request. */
    const replay = (attempt: Attempt, fingerprint: string) =>
      attempt.fingerprint === fingerprint ? answerOf(attempt, true) : Effect.fail(new IdempotencyConflict({}))

    const refuseConflicts = <Refusal>(act: PaidAct<Refusal>, { conflicts }: AttemptState) => {
      const conflict = conflicts[0]
      return conflict === undefined ? Effect.void : Effect.fail(act.conflict(conflict))
    }

    /** Hands a claimed payment in; one that is paid already is only looked for. */
    const submit = (terms: Terms, attempt: Attempt, intent: NewAttempt): Effect.Effect<Submission | void> => {
      const { payload, payment } = intent
      if (payment.rail === "card") return Effect.void
      if (Option.isSome(payment.transaction)) {
        return Effect.succeed({ _tag: "Submitted", transaction: payment.transaction.value })
      }
      const handed = settlement.submit({
        attempt: attempt.id,
        authorization: payment.authorization,
        requirements: requirementsOf(terms, attempt.amountAtomic),
        payload,
        isCodeless: isCodeless(intent),
      })
      return settlementTimed(handed)
    }

    /** In a fiber of its own: from the intent on disk on, only evidence stops it. */
    const settle = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      request: PaidRequest,
      terms: Terms,
      asked: NewAttempt,
    ): Effect.fn.Return<Outcome, PipelineRefusal | Refusal> {
      let intent = asked
      let claimed = yield* claim(intent)
      while (claimed._tag !== "Claimed") {
        if (claimed._tag === "Conflict") {
          const { attempt, paymentBound } = claimed.state
          if (Option.isSome(attempt)) return yield* replay(attempt.value, intent.fingerprint)
          if (paymentBound) return yield* new AuthorizationAlreadyBound({})
          // Where none of them refuses, what was in the way has just been released.
          yield* refuseConflicts(act, claimed.state)
        } else if (claimed._tag === "Distrusted") {
          const { reason } = claimed
          const rejected = new PaymentRejected({ reason, message: Challenges.aliveAfter(reason) })
          return yield* challenges.invalid(act, request, rejected)
        } else {
          const { balance: tooSmall, payment } = intent
          if (claimed.tooMany) return yield* tooManyOpen(claimed.most, tooSmall?.isContract === true)
          if (payment.rail === "card" || tooSmall === undefined || tooSmall.isExact) {
            return yield* challenges.invalid(act, request, overdrawn)
          }
          // The balance may already be without what is in flight: asked for once more, together with that.
          const balance = yield* balances
            .beforePayments(payment.authorization, tooSmall, claimed.inFlight)
            .pipe(Effect.mapError(() => new FacilitatorUnavailable({})))
          intent = { ...asked, balance }
        }
        claimed = yield* claim(intent)
      }
      yield* changed({ ...claimed.attempt, from: "none", to: "pending", evidence: "intent on disk" })
      const submission = yield* submit(terms, claimed.attempt, intent)
      const concluded = yield* reconciler.conclude(claimed.attempt, submission ?? undefined)
      return yield* answerOf(concluded, false)
    }, Trace.span("PaymentPipeline.settle"))

    /** An offer that nobody could settle invites a signature for nothing; a card is charged without the chain. */
    const offer = <Refusal>(act: PaidAct<Refusal>, request: PaidRequest) =>
      availability.toOffer.pipe(
        Effect.catchIf(isUnavailable, (unavailable) =>
          Effect.flatMap(cards.offer(act, request), (card) =>
            Option.isSome(card) ? Effect.void : Effect.fail(unavailable),
          ),
        ),
        Effect.andThen(challenges.required(act, request)),
      )

    /** Carries a paid request as far as evidence goes; once claimed, a disconnect no longer stops it. */
    const run = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      request: PaidRequest,
      guard: PaymentGuard,
    ) {
      yield* act.checkPath(request.parameters)
      const isPaid = request.payment !== undefined || request.card !== undefined
      if (request.payment !== undefined && request.card !== undefined) return yield* paidTwice()
      if (request.body === "" && request.key === undefined && !isPaid) return yield* offer(act, request)
      const payment = request.payment === undefined ? undefined : PaymentHeader.read(request.payment)
      const key = yield* keyOf({ key: request.key, payment, isPaid })

      const body = yield* bodyOf(act, request)
      const acceptedAtMillis = yield* Clock.currentTimeMillis
      const at = { millis: acceptedAtMillis, day: timestampOf(acceptedAtMillis).slice(0, 10) }
      const asked = yield* act.read({ ...body, ...request.parameters }, at)
      const fingerprint = fingerprintOf(request, body)
      const { claims } = asked

      const state = yield* lookup.state(key, claims)
      if (Option.isSome(state.attempt)) return yield* replay(state.attempt.value, fingerprint)
      // A key that is known is answered above: day and rules may have changed since it was paid.
      yield* asked.check
      yield* refuseConflicts(act, state)
      if (!isPaid) return yield* offer(act, request)

      const terms = yield* challenges.terms
      // Counted while the guard admits it: a refused payment costs questions to the node, and strangers send many.
      const counted = (error: unknown) =>
        request.payment !== undefined && isRefused(error) ? guard.refused : Effect.void
      const judged = credentials.read(act, { ...request, key, payment }, terms).pipe(
        Effect.catchTag("PaymentRejected", (rejected) => challenges.invalid(act, request, rejected)),
        Effect.tapError(counted),
      )
      const presented = yield* payment === undefined ? judged : guard.admit(judged)
      if (presented._tag === "Duplicate") return yield* replay(presented.attempt, fingerprint)
      const { balance, payload, payment: paidBy } = presented
      // What is paid already needs nobody to settle it.
      const isToSettle = paidBy.rail === "x402" && Option.isNone(paidBy.transaction)
      // What is paid already is delivered.
      if (isToSettle || paidBy.rail === "card") yield* availability.unlessPaused
      const obstacle = isToSettle ? yield* settlement.obstacle : undefined
      if (obstacle !== undefined) return yield* notSettled(obstacle, "This request charged nothing.")
      const intent: NewAttempt = {
        idempotencyKey: key,
        fingerprint,
        act: act.name,
        url: request.url,
        input: asked.input,
        amountAtomic: act.priceAtomic,
        payment: paidBy,
        payload,
        balance,
        claims,
        acceptedAtMillis,
        leaseMillis: Duration.toMillis(config.lease),
      }
      const fiber = yield* FiberSet.run(settling, settle(act, request, terms, intent))
      return yield* Effect.tapError(Fiber.join(fiber), counted)
    }, Trace.span("PaymentPipeline.run"))

    /** How the attempt under a key ended, after one more inquiry if none has just been made; none when there is no such attempt. */
    const reconcile = Effect.fn("PaymentPipeline.reconcile")(function* (key: string) {
      const attempt = yield* lookup.find(key)
      if (Option.isNone(attempt)) return Option.none<Outcome>()
      const concluded = yield* reconciler.look(attempt.value)
      return Option.some(yield* answerOf(concluded, true))
    })

    return { run, reconcile }
  }),
}) {
  static readonly layer = (config: PipelineConfig) => Layer.effect(this, this.make(config))
}
