/** The path of a paid request: replay, checks, challenge, verification, intent, settlement, record. */
import { Cause, Context, Duration, Effect, Fiber, FiberSet, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import {
  AuthorizationAlreadyBound,
  FacilitatorUnavailable,
  IdempotencyConflict,
  type PaymentFailed,
  type PaymentsUnavailable,
} from "../../schema/payments/Errors.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { timestampOf } from "../platform/Time.ts"
import * as Trace from "../platform/Trace.ts"
import { Availability, notSettled } from "./Availability.ts"
import { changed, settlementTimed } from "./Changes.ts"
import * as Challenges from "./Challenge.ts"
import { CardRail } from "./card/Rail.ts"
import type { Attempt } from "./store/Attempt.ts"
import { Claim, type NewAttempt } from "./store/Claim.ts"
import { type AttemptState, Lookup } from "./store/Lookup.ts"
import { type Outcome, overdrawn, type PipelineRefusal, tooManyInFlight } from "./Outcome.ts"
import type { PaidAct } from "./Act.ts"
import { bodyOf, fingerprintOf, type PaidRequest, type PaymentGuard, paidTwice } from "./Request.ts"
import { isRefused, PaymentCredentials } from "./PaymentCredentials.ts"
import { requirementsOf, type Terms } from "./PaymentTerms.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement, type Submission } from "./settle/Settlement.ts"
import { NodeQueries } from "./chain/Rpc.ts"
import { PayerBalances } from "./verify/PayerBalances.ts"
import * as PaymentHeader from "./verify/Header.ts"
import { keyOf } from "./verify/Header.ts"

export interface PipelineConfig {
  /** How long a live server may take for one attempt before another server may inquire. */
  readonly lease: Duration.Duration
  /** How long a stopping server waits for settlements of disconnected clients. */
  readonly grace: Duration.Duration
}

/** The claim of a request, with the x402 payload as its client sent it, for a facilitator. Empty for a card. */
interface Intent extends NewAttempt {
  readonly payload: string
}

const isUnavailable = (refusal: unknown): refusal is FacilitatorUnavailable => refusal instanceof FacilitatorUnavailable

export class PaymentPipeline extends Context.Service<PaymentPipeline>()("spirit-altar/payments/Pipeline", {
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
    const clock = yield* DatabaseClock
    /** From the claim on, a settlement belongs to the server and outlives the request. */
    const settling = yield* FiberSet.make<unknown, unknown>()
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(settling), config.grace))

    const answerOf = (
      attempt: Attempt,
      replayed: boolean,
    ): Effect.Effect<Outcome, PaymentFailed | PaymentsUnavailable | SqlError.SqlError> => {
      switch (attempt.state) {
        case "settled":
          return Effect.succeed({ _tag: "Settled", attempt, replayed })
        case "failed":
          return challenges.failed(attempt)
        case "pending":
          return Effect.succeed({ _tag: "Pending", attempt })
      }
    }

    /** The attempt of a repeated key, if the request is the same. */
    const replay = (attempt: Attempt, fingerprint: string) =>
      attempt.fingerprint === fingerprint ? answerOf(attempt, true) : Effect.fail(new IdempotencyConflict({}))

    const refuseConflicts = <Refusal>(act: PaidAct<Refusal>, { conflicts }: AttemptState) => {
      const conflict = conflicts[0]
      return conflict === undefined ? Effect.void : Effect.fail(act.conflict(conflict))
    }

    /** Submits a claimed payment. A payment that is already on chain needs no submission. */
    const submit = (terms: Terms, attempt: Attempt, intent: Intent): Effect.Effect<Submission | void> => {
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
      })
      return settlementTimed(handed)
    }

    /** Runs in a fiber of its own: once the intent is recorded, only evidence ends it. */
    const settle = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      request: PaidRequest,
      terms: Terms,
      asked: Intent,
    ): Effect.fn.Return<Outcome, PipelineRefusal | Refusal | SqlError.SqlError> {
      let intent = asked
      let claimed = yield* claim(intent)
      while (claimed._tag !== "Claimed") {
        if (claimed._tag === "Conflict") {
          const { attempt, paymentBound } = claimed.state
          if (Option.isSome(attempt)) return yield* replay(attempt.value, intent.fingerprint)
          if (paymentBound) return yield* new AuthorizationAlreadyBound({})
          // If no conflict is left, the claim has just been released.
          yield* refuseConflicts(act, claimed.state)
        } else {
          const { balance: tooSmall, payment } = intent
          if (claimed.tooMany) return yield* tooManyInFlight(claimed.most)
          if (payment.rail === "card" || tooSmall === undefined || tooSmall.isExact) {
            return yield* challenges.invalid(act, request, overdrawn)
          }
          // The balance may already exclude payments in flight, so read both together.
          const { balance, isUsed } = yield* balances
            .beforePayments(payment.authorization, tooSmall, claimed.inFlight)
            .pipe(Effect.mapError(() => new FacilitatorUnavailable({})))
          // The price may be missing because this very authorization was broadcast by a stranger and has paid us.
          intent = isUsed
            ? {
                ...asked,
                ...(yield* credentials
                  .paidByNow(payment, asked.payload, terms)
                  .pipe(Effect.catchTag("PaymentRejected", (rejected) => challenges.invalid(act, request, rejected)))),
              }
            : { ...asked, balance }
        }
        claimed = yield* claim(intent)
      }
      yield* changed({ ...claimed.attempt, from: "none", to: "pending", evidence: "intent on disk" })
      const { attempt } = claimed
      const submission = yield* submit(terms, attempt, intent)
      // The payment may be on its way, so a database error leaves the attempt pending.
      const concluded = yield* reconciler
        .conclude(attempt, submission ?? undefined)
        .pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.as(
              DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })(Cause.fail(error)),
              attempt,
            ),
          ),
        )
      return yield* answerOf(concluded, false)
    }, Trace.span("PaymentPipeline.settle"))

    /** An offer that cannot be settled would invite a useless signature. Cards are charged without the chain. */
    const offer = <Refusal>(act: PaidAct<Refusal>, request: PaidRequest) =>
      availability.toOffer.pipe(
        Effect.catchIf(isUnavailable, (unavailable) =>
          Effect.flatMap(cards.offer(act, request), (card) =>
            Option.isSome(card) ? Effect.void : Effect.fail(unavailable),
          ),
        ),
        Effect.andThen(challenges.required(act, request)),
      )

    /** Runs a paid request to its outcome. Once it is claimed, a disconnect does not stop it. */
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
      const acceptedAtMillis = yield* clock.estimate
      const at = { millis: acceptedAtMillis, day: timestampOf(acceptedAtMillis).slice(0, 10) }
      const asked = yield* act.read({ ...body, ...request.parameters }, at)
      const fingerprint = fingerprintOf(request, body)
      const { claims } = asked

      const state = yield* lookup.state(key, claims)
      if (Option.isSome(state.attempt)) return yield* replay(state.attempt.value, fingerprint)
      // Known keys are answered above: day and rules may have changed since they were paid.
      yield* asked.check
      yield* refuseConflicts(act, state)
      if (!isPaid) return yield* offer(act, request)

      const terms = yield* challenges.terms
      const credential = { ...request, key, payment }
      const queries = { count: 0 }
      const isKnown = yield* Effect.cached(credentials.isKnown(act, credential, terms))
      // A refused payment counts against its address if it cost queries to the node and its wallet never paid here.
      const counted = (error: unknown) =>
        payment === undefined || queries.count === 0 || !isRefused(error)
          ? Effect.void
          : Effect.flatMap(isKnown, (known) => (known ? Effect.void : guard.refused))
      const judged = credentials.read(act, credential, terms).pipe(
        Effect.catchTag("PaymentRejected", (rejected) => challenges.invalid(act, request, rejected)),
        Effect.tapError(counted),
        Effect.provideService(NodeQueries, queries),
      )
      const presented = yield* payment === undefined ? judged : guard.admit(judged, isKnown)
      if (presented._tag === "Duplicate") return yield* replay(presented.attempt, fingerprint)
      const { balance, payload, payment: paidBy } = presented
      const isToSettle = paidBy.rail === "x402" && Option.isNone(paidBy.transaction)
      // A payment that is already on chain is delivered even while sales are paused or settlement is down.
      if (isToSettle || paidBy.rail === "card") yield* availability.unlessPaused
      const obstacle = isToSettle ? yield* settlement.obstacle : undefined
      if (obstacle !== undefined) return yield* notSettled(obstacle, "This request charged nothing.")
      const intent: Intent = {
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

    /** The outcome of the attempt under a key, after another inquiry unless one has just ended. */
    const reconcile = Effect.fn("PaymentPipeline.reconcile")(function* (key: string) {
      const attempt = yield* lookup.find(key)
      if (Option.isNone(attempt)) return Option.none<Outcome>()
      const concluded = yield* reconciler.inquire(attempt.value)
      return Option.some(yield* answerOf(concluded, true))
    })

    return { run, reconcile }
  }),
}) {
  static readonly layer = (config: PipelineConfig) => Layer.effect(this, this.make(config))
}
