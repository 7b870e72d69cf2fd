/** One purchase on one page: the nine steps of ARCHITECTURE, in their order. */
import { Cause, Context, Duration, Effect, Fiber, FiberSet, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Errors from "../../schema/payments/Errors.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { toMiddleware } from "../platform/Sql.ts"
import * as Trace from "../platform/Trace.ts"
import { type PaidAct, refuseConflicts } from "./Act.ts"
import { Answers, type Concluded } from "./Answers.ts"
import { Availability } from "./Availability.ts"
import { reportChange } from "./Changes.ts"
import { guarding, type PaymentGuard } from "./Guard.ts"
import { PaymentOffers } from "./Offers.ts"
import type { Payment, RailName } from "./Payment.ts"
import { type Credential, isUnverifiable, type Order, type Verified } from "./Rail.ts"
import { Rails } from "./Rails.ts"
import { Reconciler } from "./Reconciler.ts"
import { type Intent, isProbe, type PaidRequest, type PaidUrl, reader, type ReadRequest } from "./Request.ts"
import type { Attempt } from "./store/Attempt.ts"
import { Claim } from "./store/Claim.ts"
import { type AttemptState, Lookup } from "./store/Lookup.ts"

export interface PurchaseConfig {
  /** How long a live server may take for one attempt before another server may inquire. */
  readonly lease: Duration.Duration
  /** How long a stopping server waits for settlements of disconnected clients. */
  readonly grace: Duration.Duration
}

export class Purchases extends Context.Service<Purchases>()("spirit-altar/payments/Purchase", {
  make: Effect.fnUntraced(function* (config: PurchaseConfig) {
    const { readRequest, receive } = yield* reader
    const rails = yield* Rails
    const availability = yield* Availability
    const offers = yield* PaymentOffers
    const lookup = yield* Lookup
    const { claim } = yield* Claim
    const { conclude, inquire, reportEnd } = yield* Reconciler
    const answers = yield* Answers
    /** From the claim on, a purchase belongs to the server and outlives its request. */
    const running = yield* FiberSet.make<unknown, unknown>()
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(running), config.grace))
    const detached = <A, E, R>(purchase: Effect.Effect<A, E, R>) =>
      Effect.flatMap(FiberSet.run(running, purchase), Fiber.join)

    const buy = Effect.fnUntraced(function* <Refusal>(act: PaidAct<Refusal>, sent: PaidRequest, guard: PaymentGuard) {
      // 1 read. The bare probe comes before the key.
      yield* act.checkPath(sent.parameters)
      if (isProbe(sent)) return yield* offer(sent)
      const request = yield* readRequest(act, sent)
      const { check, credential, intent, order } = request
      // 2 known?
      const state = yield* lookup.state(intent.idempotencyKey, intent.claims)
      const earlier = yield* attemptIn(state, intent)
      if (earlier !== undefined) return earlier
      // 3 allowed? Asked of new keys only: a paid purchase replays also after its day, or under new rules.
      yield* check
      yield* refuseConflicts(act, state.conflicts)
      // 4 offer
      if (credential === undefined) return yield* offer(order)
      if (rails.inUse.length === 0) return yield* offers.notConfigured
      // 5 verify
      const rail = rails.of(credential.rail)
      const guarded = yield* guarding(rail, guard, rail.hasPaid(credential, order), reportEnd)
      const verified = yield* guarded.verification(verify(credential, request))
      if (!("payment" in verified)) return verified
      // Race: sales may have stopped since the offer. A payment that is made is delivered all the same.
      if (!verified.isMade) yield* availability.toClaim(rail)
      // 6 claim, 7 submit, 8 conclude
      return yield* guarded.purchase(claimAndSubmit(act, request, verified), detached)
    }, Trace.span("Purchase.buy"))

    /** The attempt of this key, if any. Another request under the key is a 409, and from step 5 on so is a payment that another key holds. */
    const attemptIn = Effect.fnUntraced(function* ({ attempt, paymentBound }: AttemptState, { fingerprint }: Intent) {
      if (Option.isNone(attempt)) return paymentBound ? yield* new Errors.AuthorizationAlreadyBound({}) : undefined
      if (attempt.value.fingerprint !== fingerprint) return yield* new Errors.IdempotencyConflict({})
      return { attempt: attempt.value, isReplay: true } satisfies Concluded
    })

    const offer = (order: Order) =>
      Effect.andThen(availability.toOffer(rails.selling(order.act)), offers.required(order))

    /** Race: a twin of this request may have claimed its key or its payment since step 2, so both are looked up again. */
    const verify = (credential: Credential, { intent, order }: ReadRequest<unknown>) => {
      const held = (payment?: Payment) =>
        Effect.flatMap(lookup.state(intent.idempotencyKey, { slots: [] }, payment), (state) => attemptIn(state, intent))
      return Effect.gen(function* () {
        const outcome = yield* rails.of(credential.rail).verify(credential, order)
        // The database decides whose payment it is, before the chain explains what became of it.
        return outcome._tag === "Verified" ? outcome : ((yield* held(outcome.payment)) ?? (yield* outcome.unlessHeld))
      }).pipe(
        Effect.catchIf(isUnverifiable, (refusal) =>
          Effect.flatMap(held(), (twin) => (twin === undefined ? Effect.fail(refusal) : Effect.succeed(twin))),
        ),
      )
    }

    /** Claims the payment, and sees it through: once the intent is recorded, only evidence ends the attempt. */
    const claimAndSubmit = Effect.fnUntraced(function* <Refusal>(
      act: PaidAct<Refusal>,
      { intent, order }: ReadRequest<Refusal>,
      first: Verified<RailName>,
    ) {
      let verified = first
      while (true) {
        const { balance, payment } = verified
        const outcome = yield* claim({ ...intent, payment, balance, leaseMillis: Duration.toMillis(config.lease) })
        if (outcome._tag === "Claimed") return { attempt: yield* follow(outcome.attempt, order), isReplay: false }
        if (outcome._tag === "Conflict") {
          // Race: another request has claimed this key, payment or slot since step 2, or released it just now: claim again.
          const holder = yield* attemptIn(outcome.state, intent)
          if (holder !== undefined) return holder
          yield* refuseConflicts(act, outcome.state.conflicts)
        } else {
          if (outcome.tooMany) return yield* Errors.ReconcileRequired.of(outcome.most)
          verified = yield* rails.of(payment.rail).reverify(verified, outcome.inFlight)
        }
      }
    }, Trace.span("Purchase.settle"))

    /** Submits a claimed payment and follows it. The report proves nothing, so the reconciler asks for evidence. */
    const follow = Effect.fnUntraced(function* (attempt: Attempt, order: Order) {
      yield* reportChange({ ...attempt, from: "none", to: "pending", evidence: "intent on disk" })
      const submission = yield* rails.of(attempt.payment.rail).submit(attempt.id, attempt.payment, order)
      // The payment may be on its way, so a database error leaves the attempt pending.
      const unrecorded = DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })
      return yield* Effect.catchTag(conclude(attempt, submission), "SqlError", (error) =>
        Effect.as(unrecorded(Cause.fail(error)), attempt),
      )
    })

    /** 9 answer: the requests for an act at one URL. */
    const at = <Refusal>(act: PaidAct<Refusal>, url: PaidUrl) => {
      const received = receive(act, url)
      return (source: HttpServerRequest.HttpServerRequest, guard: PaymentGuard) =>
        Effect.flatMap(received(source), (sent) => answers.ofPurchase(buy(act, sent, guard), sent, source))
    }

    /** Steps 8 and 9 for the client of an attempt. Without a rail, attempts stay as they are. */
    const reconcile = Effect.fn("Purchase.reconcile")(function* (key: string) {
      const attempt = yield* lookup.find(key)
      if (Option.isNone(attempt)) return yield* new Errors.AttemptNotFound({})
      return yield* answers.ofReconcile(rails.inUse.length === 0 ? attempt.value : yield* inquire(attempt.value))
    }, toMiddleware)

    return { at, reconcile }
  }),
}) {
  static readonly layer = (config: PurchaseConfig) => Layer.effect(this, this.make(config))
}
