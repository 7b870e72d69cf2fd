/** The offer of every 402: an x402 challenge for one URL, whatever rails sell the act. */
import { Context, Effect, Layer } from "effect"
import { PaymentInvalid, PaymentRequired, PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import { BoundedMap } from "../platform/BoundedMap.ts"
import type { PaymentRejected } from "./Payment.ts"
import { challengeOf, type OfferedAct, offerOf, PaymentTerms, type Terms } from "./PaymentTerms.ts"

/** URLs carry parameters, so the cache needs a limit. The oldest offers give way to those in use. */
const offersKept = 1_000

export class PaymentOffers extends Context.Service<
  PaymentOffers,
  {
    /** The refusal of every sale while settings are missing. It names them. */
    readonly notConfigured: PaymentsUnavailable
    /** The terms of all offers; fails with `notConfigured`. */
    readonly terms: Effect.Effect<Terms, PaymentsUnavailable>
    /** Fails with the offer of an order, which is one object for each URL. */
    readonly required: (order: OfferedAct) => Effect.Effect<never, PaymentRequired | PaymentsUnavailable>
    /** Fails with the refusal of a payment and the offer that it should have accepted. */
    readonly invalid: (
      order: OfferedAct,
      rejected: PaymentRejected,
    ) => Effect.Effect<never, PaymentInvalid | PaymentsUnavailable>
  }
>()("spirit-altar/payments/Offers") {
  static readonly make = Effect.gen(function* () {
    const setting = yield* PaymentTerms
    const notConfigured = new PaymentsUnavailable({ missing: setting._tag === "Ready" ? [] : setting.missing })
    const terms = setting._tag === "Ready" ? Effect.succeed(setting.terms) : Effect.fail(notConfigured)
    const offers = new BoundedMap<string, PaymentRequired>(offersKept)

    const offered = (ours: Terms, order: OfferedAct) => {
      const name = `${order.act.name} ${order.url}`
      const cached = offers.get(name)
      if (cached !== undefined) return cached
      const offer = new PaymentRequired({ challenge: challengeOf(ours, offerOf(order), "payment_required") })
      offers.set(name, offer)
      return offer
    }
    const required = (order: OfferedAct) => Effect.flatMap(terms, (ours) => Effect.fail(offered(ours, order)))

    const invalid = Effect.fnUntraced(function* (
      { act, url }: OfferedAct,
      { member, message, reason }: PaymentRejected,
    ) {
      const { description, priceAtomic: amountAtomic } = act
      // Clients show the challenge's `error` alone, so it says what the message says.
      const challenge = challengeOf(yield* terms, { amountAtomic, url, description }, `${reason}: ${message}`)
      return yield* new PaymentInvalid({ reason, message, ...(member === undefined ? {} : { member }), challenge })
    })

    return PaymentOffers.of({ notConfigured, terms, required, invalid })
  })
  static readonly layer = Layer.effect(this, this.make)
}
