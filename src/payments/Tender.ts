/** What a request brought to pay with: found good, found to have paid already, or refused; and whose it is before it is refused. */
import { Context, Effect, Layer, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { Hex } from "viem"
import { AuthorizationAlreadyBound, FacilitatorUnavailable } from "../../schema/altar/Errors.ts"
import type { Attempt } from "./Attempt.ts"
import { CardRail, type CardRequest } from "./CardRail.ts"
import type { SignedAuthorization } from "./Eip3009.ts"
import type { ActFace } from "./PaidAct.ts"
import type { ChainPayment, Payment } from "./Payment.ts"
import { PaymentLedger } from "./PaymentLedger.ts"
import { saleOf, type Terms } from "./PaymentTerms.ts"
import { type DoubtfulPayment, type PaymentRejected, PaymentVerifier } from "./PaymentVerifier.ts"
import type { Purse } from "./Purses.ts"
import { UsedAuthorizations } from "./UsedAuthorizations.ts"

/** A paid request with its key. */
export interface Tendered extends CardRequest {
  readonly key: string
  readonly payment: string | undefined
  readonly card: string | undefined
  /** Path and query parameters, as in `PaidRequest`. */
  readonly parameters: Schema.JsonObject
}

/** Good to be claimed. */
export interface Tender {
  readonly _tag: "Tender"
  readonly payment: Payment
  /** The x402 payload as sent; empty for a card. */
  readonly payload: string
  /** What the wallet can pay with; absent for a card, and for what is paid already. */
  readonly purse: Purse | undefined
  /** The transaction that has paid it already. */
  readonly paidIn: Option.Option<Hex>
}

/** What did not hold any more was used by this very purchase, sent twice at once. */
export interface Twin {
  readonly _tag: "Twin"
  readonly attempt: Attempt
}

const unseen = new FacilitatorUnavailable({
  message:
    "This authorization was refused, and whether it has paid cannot be seen at the moment; send the same request again later, and do not sign another payment before.",
})

const chainPayment = (terms: Terms, authorization: SignedAuthorization, fromBlock: bigint): ChainPayment => ({
  rail: "x402",
  network: terms.network,
  authorization,
  fromBlock,
  transaction: Option.none(),
})

export class Tenders extends Context.Service<
  Tenders,
  {
    take(
      act: ActFace,
      request: Tendered,
      terms: Terms,
    ): Effect.Effect<
      Tender | Twin,
      PaymentRejected | AuthorizationAlreadyBound | FacilitatorUnavailable | SqlError.SqlError
    >
  }
>()("spirit-altar/payments/Tenders") {
  static readonly layer = Layer.effect(
    Tenders,
    Effect.gen(function* () {
      const verifier = yield* PaymentVerifier
      const cards = yield* CardRail
      const ledger = yield* PaymentLedger
      const used = yield* UsedAuthorizations

      /** The attempt that used the payment, if it is this purchase's own; a conflict, if it is another's. */
      const owner = Effect.fnUntraced(function* (key: string, payment?: Payment) {
        const standing = yield* ledger.standing(key, { slots: [] }, payment)
        if (standing.paymentBound && Option.isNone(standing.attempt)) return yield* new AuthorizationAlreadyBound({})
        return Option.map(standing.attempt, (attempt): Twin => ({ _tag: "Twin", attempt }))
      })

      const doubted = Effect.fnUntraced(function* (key: string, doubtful: DoubtfulPayment, terms: Terms) {
        const twin = yield* owner(key, chainPayment(terms, doubtful.authorization, 0n))
        if (Option.isSome(twin)) return twin.value
        if (!doubtful.fits) return yield* doubtful.refusal
        const found = yield* used
          .trace(doubtful, terms)
          .pipe(
            Effect.catchTag("ChainUnavailable", (error) =>
              Effect.andThen(
                Effect.logWarning("A used authorization could not be followed", error),
                Effect.fail(unseen),
              ),
            ),
          )
        const tender: Tender = {
          _tag: "Tender",
          payment: chainPayment(terms, found.authorization, found.fromBlock),
          payload: found.payload,
          purse: undefined,
          paidIn: Option.some(found.transaction),
        }
        return tender
      })

      const onChain = Effect.fnUntraced(function* (act: ActFace, request: Tendered, terms: Terms) {
        const sale = saleOf(act, request.url, request.parameters)
        const found = yield* verifier.verify(request.payment ?? "", terms, sale)
        if (found._tag === "Doubtful") return yield* doubted(request.key, found, terms)
        const tender: Tender = {
          _tag: "Tender",
          payment: chainPayment(terms, found.authorization, found.fromBlock),
          payload: found.payload,
          purse: found.purse,
          paidIn: Option.none(),
        }
        return tender
      })

      const byCard = (act: ActFace, request: Tendered, card: string) =>
        Effect.map(cards.verify(card, act, request), (payment): Tender => ({
          _tag: "Tender",
          payment,
          payload: "",
          purse: undefined,
          paidIn: Option.none(),
        }))

      const take = Effect.fn("Tenders.take")(function* (act: ActFace, request: Tendered, terms: Terms) {
        const taken: Effect.Effect<
          Tender | Twin,
          Effect.Error<ReturnType<typeof onChain>> | Effect.Error<ReturnType<typeof byCard>>
        > = request.card === undefined ? onChain(act, request, terms) : byCard(act, request, request.card)
        return yield* taken.pipe(
          Effect.catchTags({
            PaymentRejected: (rejected) =>
              Effect.flatMap(owner(request.key), (twin) => Effect.mapError(Effect.fromOption(twin), () => rejected)),
            ChainUnavailable: (error) =>
              Effect.andThen(
                Effect.logWarning("A payment could not be verified", error),
                Effect.fail(new FacilitatorUnavailable({})),
              ),
          }),
        )
      })

      return Tenders.of({ take })
    }),
  )
}
