/** What a request brought to pay with: found good, found to have paid already, or refused; and whose it is before it is refused. */
import { Context, Effect, Layer, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { Hex } from "viem"
import { AuthorizationAlreadyBound, FacilitatorUnavailable } from "../../../schema/payments/Errors.ts"
import type { Attempt } from "../ledger/Attempt.ts"
import { CardRail, type CardRequest } from "../card/CardRail.ts"
import type { ChainUnavailable } from "./Chain.ts"
import type { SignedAuthorization } from "./Eip3009.ts"
import type { SoldAct } from "../PaidAct.ts"
import type { ChainPayment, Payment } from "../Payment.ts"
import { PaymentLedger } from "../ledger/PaymentLedger.ts"
import { saleOf, type Terms } from "../PaymentTerms.ts"
import { type PaymentRejected, PaymentVerifier } from "./PaymentVerifier.ts"
import type { Purse } from "../ledger/Purses.ts"
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
}

/** What did not hold any more was used by this very purchase, sent twice at once. */
export interface Twin {
  readonly _tag: "Twin"
  readonly attempt: Attempt
}

const untold = new FacilitatorUnavailable({
  message:
    "Whether this authorization has already paid cannot be told at the moment; send the same request again later, and do not sign another payment before. This request charged nothing.",
})

const chainPayment = (
  { network }: Terms,
  authorization: SignedAuthorization,
  fromBlock: bigint,
  transaction: Option.Option<Hex> = Option.none(),
): ChainPayment => ({ rail: "x402", network, authorization, fromBlock, transaction })

const unavailable = (what: string, refusal: FacilitatorUnavailable) => (error: ChainUnavailable) =>
  Effect.andThen(Effect.logWarning(what, error), Effect.fail(refusal))

export class Tenders extends Context.Service<
  Tenders,
  {
    take(
      act: SoldAct,
      request: Tendered,
      terms: Terms,
    ): Effect.Effect<
      Tender | Twin,
      PaymentRejected | AuthorizationAlreadyBound | FacilitatorUnavailable | SqlError.SqlError
    >
  }
>()("spirit-altar/payments/x402/Tenders") {
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

      const onChain = Effect.fnUntraced(function* (act: SoldAct, request: Tendered, terms: Terms) {
        const sale = saleOf(act, request.url, request.parameters)
        const found = yield* verifier.verify(request.payment ?? "", terms, sale)
        if (found._tag === "Good") {
          const { authorization, fromBlock, payload, purse } = found
          const tender: Tender = {
            _tag: "Tender",
            payment: chainPayment(terms, authorization, fromBlock),
            payload,
            purse,
          }
          return tender
        }
        // Whose it is stands in the database, whatever the chain says.
        const twin = yield* owner(request.key, chainPayment(terms, found.authorization, 0n))
        if (Option.isSome(twin)) return twin.value
        if (found._tag === "Unseen") {
          return yield* unavailable("A payment could not be verified", new FacilitatorUnavailable({}))(found.cause)
        }
        if (!found.fits) return yield* found.refusal
        const { authorization, fromBlock, payload, transaction } = yield* used
          .trace(found, terms)
          .pipe(Effect.catchTag("ChainUnavailable", unavailable("A used authorization could not be followed", untold)))
        const tender: Tender = {
          _tag: "Tender",
          payment: chainPayment(terms, authorization, fromBlock, Option.some(transaction)),
          payload,
          purse: undefined,
        }
        return tender
      })

      const byCard = (act: SoldAct, request: Tendered, card: string) =>
        Effect.map(cards.verify(card, act, request), (payment): Tender => ({
          _tag: "Tender",
          payment,
          payload: "",
          purse: undefined,
        }))

      const take = Effect.fn("Tenders.take")(function* (act: SoldAct, request: Tendered, terms: Terms) {
        const taken: Effect.Effect<
          Tender | Twin,
          Effect.Error<ReturnType<typeof onChain>> | Effect.Error<ReturnType<typeof byCard>>
        > = request.card === undefined ? onChain(act, request, terms) : byCard(act, request, request.card)
        return yield* taken.pipe(
          Effect.catchTag("PaymentRejected", (rejected) =>
            Effect.flatMap(owner(request.key), (twin) => Effect.mapError(Effect.fromOption(twin), () => rejected)),
          ),
        )
      })

      return Tenders.of({ take })
    }),
  )
}
