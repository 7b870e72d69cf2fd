/** Buys with a new payment: verifies it, records the intent and settles it. Absent while settings are missing. */
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import { Cause, Context, Duration, Effect, Fiber, FiberSet, Layer, Option } from "effect"
import { AuthorizationAlreadyBound, FacilitatorUnavailable, ReconcileRequired } from "../../schema/payments/Errors.ts"
import type { ClaimConflict, Ended, PaidAct, PaymentGuard, SoldAct } from "./Act.ts"
import { Availability, notSettled } from "./Availability.ts"
import { Challenges, type Outcome } from "./Challenge.ts"
import { changed, settlementTimed } from "./Changes.ts"
import { NodeQueries } from "./x402/chain/Rpc.ts"
import { type CredentialRequest, isRefused, PaymentCredentials } from "./PaymentCredentials.ts"
import { PaymentRejected } from "./Payment.ts"
import { saleOf, type Terms } from "./PaymentTerms.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement, type Submission } from "./x402/settle/Settlement.ts"
import type { Attempt } from "./store/Attempt.ts"
import { Claim, type ClaimOutcome, type NewAttempt } from "./store/Claim.ts"
import { Chain } from "./x402/chain/Chain.ts"

export interface PurchaseConfig {
  /** How long a live server may take for one attempt before another server may inquire. */
  readonly lease: Duration.Duration
  /** How long a stopping server waits for settlements of disconnected clients. */
  readonly grace: Duration.Duration
}

type Asked = Omit<NewAttempt, "payment" | "balance" | "leaseMillis">

const overdrawn = new PaymentRejected({
  reason: "insufficient_funds",
  message:
    "The paying wallet holds less USDC than this price and its payments in flight here. Fund it, or wait for them, and send the same request again. This request charged nothing.",
})

export const refuseConflicts = <Refusal>(act: PaidAct<Refusal>, [conflict]: ReadonlyArray<ClaimConflict>) =>
  conflict === undefined ? Effect.void : Effect.fail(act.conflict(conflict))

export class Purchases extends Context.Service<Purchases>()("spirit-altar/payments/Purchase", {
  make: Effect.fnUntraced(function* (config: PurchaseConfig) {
    const challenges = yield* Challenges
    const { claim } = yield* Claim
    const availability = yield* Availability
    const credentials = yield* PaymentCredentials
    const chain = yield* Chain
    const settlement = yield* Settlement
    const reconciler = yield* Reconciler
    /** From the claim on, a settlement belongs to the server and outlives the request. */
    const settling = yield* FiberSet.make<unknown, unknown>()
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(settling), config.grace))

    /** Returns the intent with a fresh balance, after a claim found the balance too low. */
    const reread = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      request: CredentialRequest,
      terms: Terms,
      intent: NewAttempt,
      { inFlight, most, tooMany }: Extract<ClaimOutcome, { readonly _tag: "Overdrawn" }>,
    ) {
      const { balance: tooSmall, payment } = intent
      if (tooMany) return yield* ReconcileRequired.of(most)
      if (payment.rail === "card" || tooSmall === undefined || tooSmall.isExact) {
        return yield* challenges.invalid(act, request, overdrawn)
      }
      // Some payments in flight may have left the balance already, so it is read with the state of their nonces.
      const { balanceAtomic, isUsed } = yield* chain
        .balanceBefore(payment.authorization, inFlight)
        .pipe(Effect.mapError(() => new FacilitatorUnavailable({})))
      // Keeps the earlier time: the list of payments in flight dates from then.
      if (!isUsed) return { ...intent, balance: { ...tooSmall, balanceAtomic, isExact: true } }
      // The balance may be low because a stranger broadcast this very authorization, and it has paid us.
      const paid = yield* credentials
        .paidByNow(payment, terms)
        .pipe(Effect.catchTag("PaymentRejected", (rejected) => challenges.invalid(act, request, rejected)))
      return { ...intent, ...paid }
    })

    /** Submits a claimed payment. A payment that is already on chain needs no submission. */
    const submit = (
      act: SoldAct,
      { parameters, url }: CredentialRequest,
      { id, payment }: Attempt,
    ): Effect.Effect<Submission | undefined> => {
      if (payment.rail === "card") return Effect.undefined
      if (Option.isSome(payment.transaction)) {
        return Effect.succeed({ _tag: "Submitted", transaction: payment.transaction.value })
      }
      return settlementTimed(settlement.submit({ attempt: id, payment, sale: saleOf(act, url, parameters) }))
    }

    /** Runs in a fiber of its own: once the intent is recorded, only evidence ends it. */
    const settle = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      request: CredentialRequest,
      terms: Terms,
      asked: NewAttempt,
    ) {
      let intent = asked
      let claimed = yield* claim(intent)
      while (claimed._tag !== "Claimed") {
        if (claimed._tag === "Conflict") {
          const { attempt, conflicts, paymentBound } = claimed.state
          if (Option.isSome(attempt)) return yield* challenges.replay(attempt.value, intent.fingerprint)
          if (paymentBound) return yield* new AuthorizationAlreadyBound({})
          // If no conflict is left, the holder has just released its claim: try again.
          yield* refuseConflicts(act, conflicts)
        } else {
          intent = yield* reread(act, request, terms, intent, claimed)
        }
        claimed = yield* claim(intent)
      }
      const { attempt } = claimed
      yield* changed({ ...attempt, from: "none", to: "pending", evidence: "intent on disk" })
      const submission = yield* submit(act, request, attempt)
      // The payment may be on its way, so a database error leaves the attempt pending.
      const unrecorded = DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })
      const concluded = yield* reconciler
        .conclude(attempt, submission)
        .pipe(Effect.catchTag("SqlError", (error) => Effect.as(unrecorded(Cause.fail(error)), attempt)))
      return yield* challenges.answerOf(concluded, false)
    }, Trace.span("Purchase.settle"))

    /** Runs in a fiber of the server, which a disconnect of the client does not stop. */
    const detached = <A, E, R>(purchase: Effect.Effect<A, E, R>) =>
      Effect.flatMap(FiberSet.run(settling, purchase), Fiber.join)

    const reporting = (ended: Ended) => (outcome: Outcome) =>
      outcome._tag === "Settled" ? ended(true) : reconciler.reportEnd(outcome.attempt, ended)

    /** Runs a purchase to its outcome. Once it is claimed, a disconnect does not stop it. */
    const buy = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      request: CredentialRequest,
      asked: Asked,
      guard: PaymentGuard,
    ) {
      const terms = yield* challenges.terms
      const queries = { count: 0 }
      const isKnown = yield* Effect.cached(credentials.isKnown(act, request, terms))
      // A refused payment counts against its address if it cost queries to the node and its wallet never paid here.
      const counted = (error: unknown) =>
        request.payment === undefined || queries.count === 0 || !isRefused(error)
          ? Effect.void
          : Effect.flatMap(isKnown, (known) => (known ? Effect.void : guard.refused))
      const judged = credentials.read(act, request, terms).pipe(
        Effect.catchTag("PaymentRejected", (rejected) => challenges.invalid(act, request, rejected)),
        Effect.tapError(counted),
        Effect.provideService(NodeQueries, queries),
      )
      const presented = yield* request.payment === undefined ? judged : guard.admit(judged, isKnown)
      if (presented._tag === "Duplicate") return yield* challenges.replay(presented.attempt, asked.fingerprint)
      const { balance, payment } = presented
      const isToSettle = payment.rail === "x402" && Option.isNone(payment.transaction)
      // A payment that is already on chain is delivered even while sales are paused or settlement is down.
      if (isToSettle || payment.rail === "card") yield* availability.unlessPaused
      const obstacle = isToSettle ? yield* settlement.obstacle : undefined
      if (obstacle !== undefined) return yield* notSettled(obstacle, "This request charged nothing.")
      const intent = { ...asked, payment, balance, leaseMillis: Duration.toMillis(config.lease) }
      const purchase = settle(act, request, terms, intent)
      // An invented token costs nothing, so a card's purchase counts before it is claimed.
      return yield* payment.rail === "card"
        ? guard.counting((ended) => detached(Effect.tap(purchase, reporting(ended))))
        : Effect.tapError(detached(purchase), counted)
    })

    return { buy }
  }),
}) {
  static readonly layer = (config: PurchaseConfig) => Layer.effect(this, this.make(config))
}
