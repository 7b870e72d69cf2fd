/** The path of a paid request: replay, checks, challenge, purchase. */
import { hash } from "node:crypto"
import { Context, Effect, Layer, Option } from "effect"
import { bodyText } from "../../schema/payments/BindingRecipe.ts"
import { FacilitatorUnavailable } from "../../schema/payments/Errors.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { timestampOf } from "../platform/Time.ts"
import * as Trace from "../platform/Trace.ts"
import { readBody, fingerprintOf, type PaidAct, type PaidRequest, paidTwice, type PaymentGuard } from "./Act.ts"
import { Availability } from "./Availability.ts"
import { CardRail, isForCards } from "./card/Rail.ts"
import { Challenges, type Outcome } from "./Challenge.ts"
import { Purchases, refuseConflicts } from "./Purchase.ts"
import { Reconciler } from "./Reconciler.ts"
import { Lookup } from "./store/Lookup.ts"
import * as PaymentHeader from "./x402/verify/Header.ts"

const isUnavailable = (refusal: unknown): refusal is FacilitatorUnavailable => refusal instanceof FacilitatorUnavailable

export class PaymentPipeline extends Context.Service<PaymentPipeline>()("spirit-altar/payments/Pipeline", {
  make: Effect.gen(function* () {
    const challenges = yield* Challenges
    const lookup = yield* Lookup
    const availability = yield* Availability
    const clock = yield* DatabaseClock
    // Absent while settings are missing: stored attempts stay as they are, and nothing is sold.
    const cards = yield* Effect.serviceOption(CardRail)
    const purchases = yield* Effect.serviceOption(Purchases)
    const reconciler = yield* Effect.serviceOption(Reconciler)

    /** Offers an act only while a payment can settle. A card is charged without the chain. */
    const offer = <Refusal>(act: PaidAct<Refusal>, request: PaidRequest) =>
      availability.toOffer.pipe(
        Effect.catchIf(isUnavailable, (unavailable) =>
          Option.isSome(cards) && isForCards(act) ? Effect.void : Effect.fail(unavailable),
        ),
        Effect.andThen(challenges.required(act, request)),
      )

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
      const key = yield* PaymentHeader.keyOf({ key: request.key, payment, isPaid })

      const body = yield* readBody(act, request)
      const acceptedAtMillis = yield* clock.estimate
      const at = { millis: acceptedAtMillis, day: timestampOf(acceptedAtMillis).slice(0, 10) }
      const { check, claims, input } = yield* act.read({ ...body, ...request.parameters }, at)
      const canonicalBody = bodyText(body)
      const fingerprint = fingerprintOf(request, canonicalBody)

      const state = yield* lookup.state(key, claims)
      if (Option.isSome(state.attempt)) return yield* challenges.replay(state.attempt.value, fingerprint)
      // For new keys only: a paid purchase replays also after its day, or under new rules.
      yield* check
      yield* refuseConflicts(act, state.conflicts)
      if (!isPaid) return yield* offer(act, request)
      if (Option.isNone(purchases)) return yield* challenges.notConfigured
      const { name, priceAtomic: amountAtomic } = act
      const asked = { idempotencyKey: key, fingerprint, act: name, url: request.url, input, amountAtomic, claims }
      return yield* purchases.value.buy(
        act,
        { ...request, key, payment, bodySha256: hash("sha256", canonicalBody, "hex") },
        { ...asked, acceptedAtMillis },
        guard,
      )
    }, Trace.span("PaymentPipeline.run"))

    /** Inquires, unless an inquiry ended within two seconds, and returns the outcome of the attempt under a key. */
    const reconcile = Effect.fn("PaymentPipeline.reconcile")(function* (key: string) {
      const attempt = yield* lookup.find(key)
      if (Option.isNone(attempt)) return Option.none<Outcome>()
      const concluded = Option.isNone(reconciler) ? attempt.value : yield* reconciler.value.inquire(attempt.value)
      return Option.some(yield* challenges.answerOf(concluded, true))
    })

    return { run, reconcile }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
