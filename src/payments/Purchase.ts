/** One purchase on one page: the nine steps of ARCHITECTURE, in their order. */
import { Cause, Context, Duration, Effect, Fiber, FiberSet, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import {
  AttemptNotFound,
  AuthorizationAlreadyBound,
  FacilitatorUnavailable,
  IdempotencyConflict,
  ReconcileRequired,
} from "../../schema/payments/Errors.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { toMiddleware } from "../platform/Sql.ts"
import * as Trace from "../platform/Trace.ts"
import type { ClaimConflict, PaidAct } from "./Act.ts"
import { Answers, type Concluded, isUnpaid } from "./Answers.ts"
import { Availability } from "./Availability.ts"
import { changed } from "./Changes.ts"
import { guarding, type PaymentGuard } from "./Guard.ts"
import { PaymentOffers } from "./Offers.ts"
import { type Payment, PaymentRejected, type RailName } from "./Payment.ts"
import type { Credential, Order, Verified } from "./Rail.ts"
import { Rails } from "./Rails.ts"
import { Reconciler } from "./Reconciler.ts"
import { isProbe, type PaidRequest, type PaidUrl, reader, type ReadRequest } from "./Request.ts"
import type { Attempt } from "./store/Attempt.ts"
import { Claim } from "./store/Claim.ts"
import { type AttemptState, Lookup } from "./store/Lookup.ts"

export interface PurchaseConfig {
  /** How long a live server may take for one attempt before another server may inquire. */
  readonly lease: Duration.Duration
  /** How long a stopping server waits for settlements of disconnected clients. */
  readonly grace: Duration.Duration
}

const isRejected = (error: unknown): error is PaymentRejected => error instanceof PaymentRejected

const isUnverifiable = (error: unknown): error is PaymentRejected | FacilitatorUnavailable =>
  isRejected(error) || error instanceof FacilitatorUnavailable

const refuseConflicts = <Refusal>(act: PaidAct<Refusal>, [conflict]: ReadonlyArray<ClaimConflict>) =>
  conflict === undefined ? Effect.void : Effect.fail(act.conflict(conflict))

export class Purchases extends Context.Service<Purchases>()("spirit-altar/payments/Purchase", {
  make: Effect.fnUntraced(function* (config: PurchaseConfig) {
    const { read, received } = yield* reader
    const rails = yield* Rails
    const availability = yield* Availability
    const offers = yield* PaymentOffers
    const lookup = yield* Lookup
    const { claim } = yield* Claim
    const reconciler = yield* Reconciler
    const answers = yield* Answers
    /** From the claim on, a purchase belongs to the server and outlives its request. */
    const running = yield* FiberSet.make<unknown, unknown>()
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(running), config.grace))
    const detached = <A, E, R>(purchase: Effect.Effect<A, E, R>) =>
      Effect.flatMap(FiberSet.run(running, purchase), Fiber.join)

    /** known? The attempt of this key, if any. A stranger's key or payment is a 409. */
    const knownIn = Effect.fnUntraced(function* ({ attempt, paymentBound }: AttemptState, fingerprint: string) {
      if (Option.isNone(attempt)) return paymentBound ? yield* new AuthorizationAlreadyBound({}) : undefined
      if (attempt.value.fingerprint !== fingerprint) return yield* new IdempotencyConflict({})
      return { attempt: attempt.value, isReplay: true } satisfies Concluded
    })

    const offer = (order: Order) =>
      Effect.andThen(availability.toOffer(rails.selling(order.act)), offers.required(order))

    /** verify. Race: the same request may have come twice, and its twin may have claimed and used the payment since. */
    const verify = <Refusal>(credential: Credential, { fingerprint, key, order }: ReadRequest<Refusal>) => {
      const known = (payment?: Payment) =>
        Effect.flatMap(lookup.state(key, { slots: [] }, payment), (state) => knownIn(state, fingerprint))
      return Effect.gen(function* () {
        const verdict = yield* rails.of(credential.rail).verify(credential, order)
        if (verdict._tag === "Verified") return verdict
        // The database decides whose payment it is, whatever the chain says.
        return (yield* known(verdict.payment)) ?? (yield* verdict.unlessHeld)
      }).pipe(
        Effect.catchIf(isUnverifiable, (refusal) =>
          Effect.flatMap(known(), (twin) => (twin === undefined ? Effect.fail(refusal) : Effect.succeed(twin))),
        ),
      )
    }

    /** submit, conclude: the report of a submission proves nothing, so the reconciler asks for evidence. */
    const conclude = Effect.fnUntraced(function* (attempt: Attempt, order: Order) {
      yield* changed({ ...attempt, from: "none", to: "pending", evidence: "intent on disk" })
      const submission = yield* rails.of(attempt.payment.rail).submit(attempt.id, attempt.payment, order)
      // The payment may be on its way, so a database error leaves the attempt pending.
      const unrecorded = DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })
      return yield* reconciler
        .conclude(attempt, submission)
        .pipe(Effect.catchTag("SqlError", (error) => Effect.as(unrecorded(Cause.fail(error)), attempt)))
    })

    /** claim, and from there to the end: once the intent is recorded, only evidence ends the attempt. */
    const settle = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      { acceptedAtMillis, claims, fingerprint, input, key, order }: ReadRequest<Refusal>,
      first: Verified<RailName>,
    ) {
      const bought = { idempotencyKey: key, fingerprint, act: act.name, url: order.url, input, claims }
      const terms = { amountAtomic: act.priceAtomic, acceptedAtMillis, leaseMillis: Duration.toMillis(config.lease) }
      let verified = first
      while (true) {
        const { balance, payment } = verified
        const outcome = yield* claim({ ...bought, ...terms, payment, balance })
        if (outcome._tag === "Claimed") return { attempt: yield* conclude(outcome.attempt, order), isReplay: false }
        if (outcome._tag === "Conflict") {
          // Race: another request has claimed this key, this payment or a slot since the first look.
          const known = yield* knownIn(outcome.state, fingerprint)
          if (known !== undefined) return known
          // If no conflict is left, the holder has just released its claim: try again.
          yield* refuseConflicts(act, outcome.state.conflicts)
        } else {
          if (outcome.tooMany) return yield* ReconcileRequired.of(outcome.most)
          verified = yield* rails.of(payment.rail).reverify(verified, outcome.inFlight)
        }
      }
    }, Trace.span("Purchase.settle"))

    /** The nine steps up to the answer. */
    const buy = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      received: PaidRequest,
      guard: PaymentGuard,
    ) {
      yield* act.checkPath(received.parameters)
      if (isProbe(received)) return yield* offer(received)
      const request = yield* read(act, received)
      const { check, claims, credential, fingerprint, key, order } = request

      const state = yield* lookup.state(key, claims)
      const known = yield* knownIn(state, fingerprint)
      if (known !== undefined) return known

      // For new keys only: a paid purchase replays also after its day, or under new rules.
      yield* check
      yield* refuseConflicts(act, state.conflicts)

      if (credential === undefined) return yield* offer(order)
      if (rails.inUse.length === 0) return yield* offers.notConfigured
      const rail = rails.of(credential.rail)
      const guarded = yield* guarding(rail, guard, rail.hasPaid(credential, order), reconciler.reportEnd)

      const verified = yield* guarded.verification(verify(credential, request))
      if (!("payment" in verified)) return verified
      // Race: sales may have stopped since the offer. A payment that is made is delivered all the same.
      if (!verified.isMade) yield* availability.toClaim(rail)

      return yield* guarded.purchase(detached(settle(act, request, verified)))
    }, Trace.span("Purchase.buy"))

    /** Sells an act at one URL: reads each request and answers it. */
    const at = <Refusal>(act: PaidAct<Refusal>, url: PaidUrl) => {
      const receive = received(act, url)
      return Effect.fnUntraced(function* (source: HttpServerRequest.HttpServerRequest, guard: PaymentGuard) {
        const request = yield* receive(source)
        return yield* buy(act, request, guard).pipe(
          Effect.flatMap(({ attempt, isReplay }) => answers.ofAttempt(attempt, isReplay)),
          Effect.catchIf(isRejected, (rejected) => offers.invalid(request, rejected)),
          Effect.catchIf(isUnpaid, (refusal) => answers.unpaid(refusal, request, source)),
          toMiddleware,
        )
      })
    }

    /** conclude, answer: again for the client of an attempt. While nothing is configured, attempts stay as they are. */
    const reconcile = Effect.fn("Purchase.reconcile")(function* (key: string) {
      const attempt = yield* lookup.find(key)
      if (Option.isNone(attempt)) return yield* new AttemptNotFound({})
      const isSelling = rails.inUse.length > 0
      return yield* answers.reconciled(isSelling ? yield* reconciler.inquire(attempt.value) : attempt.value)
    }, toMiddleware)

    return { at, reconcile }
  }),
}) {
  static readonly layer = (config: PurchaseConfig) => Layer.effect(this, this.make(config))
}
