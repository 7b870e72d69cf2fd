/** Judges the credential of a request: valid, already used by the same purchase, or refused. */
import { Context, Effect, Layer, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { AuthorizationAlreadyBound, FacilitatorUnavailable, PaymentInvalid } from "../../schema/payments/Errors.ts"
import { notSettled } from "./Availability.ts"
import { CardRail, type CardRequest, notHere } from "./card/Rail.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { PayerBalance } from "./store/Claim.ts"
import { Lookup } from "./store/Lookup.ts"
import type { SoldAct } from "./Act.ts"
import type { ChainPayment, Payment, PaymentRejected } from "./Payment.ts"
import { saleOf, type Terms } from "./PaymentTerms.ts"
import type { ChainUnavailable } from "./chain/Rpc.ts"
import { alreadyUsed, unexplained } from "./chain/Eip3009.ts"
import { refuseMember } from "./verify/Offer.ts"
import { type PaymentHeader, read as readHeader } from "./verify/Header.ts"
import { TokenWatch } from "./chain/NodeWatch.ts"
import { UsedAuthorization } from "./verify/UsedAuthorization.ts"
import { PaymentVerifier } from "./verify/PaymentVerifier.ts"
import { log, type LogMessage } from "../platform/LogMessages.ts"

export interface CredentialRequest extends CardRequest {
  readonly key: string
  readonly payment: PaymentHeader | undefined
  readonly card: string | undefined
  readonly parameters: Schema.JsonObject
  /** SHA-256 of the canonical body, hex. */
  readonly bodySha256: string
}

export interface PresentedPayment {
  readonly _tag: "Presented"
  readonly payment: Payment
  /** The x402 payload as sent, empty for a card. */
  readonly payload: string
  /** The wallet's balance, absent for a card and for a payment that is already made. */
  readonly balance: PayerBalance | undefined
}

/** The credential was used by the same purchase, submitted twice at once. */
export interface DuplicateRequest {
  readonly _tag: "Duplicate"
  readonly attempt: Attempt
}

const noHeader = readHeader("")

const usedByNow = refuseMember(alreadyUsed, "payload.authorization.nonce", "is used.")

const unproven = new FacilitatorUnavailable({
  message:
    "The server cannot tell now whether this authorization has paid. Send the same request again later, and do not sign another payment before. This request charged nothing.",
})

/** Refusals that count against an address. An obstacle to all payments does not, nor a wallet's limit in flight. */
export const isRefused = (error: unknown) =>
  error instanceof PaymentInvalid || error instanceof AuthorizationAlreadyBound || error === unproven

const presented = (payment: Payment, payload: string, balance?: PayerBalance): PresentedPayment => ({
  _tag: "Presented",
  payment,
  payload,
  balance,
})

const unavailable = (what: LogMessage, refusal: FacilitatorUnavailable) => (error: ChainUnavailable) =>
  Effect.andThen(log(what, {}, error), Effect.fail(refusal))

type Presented = Effect.Effect<
  PresentedPayment | DuplicateRequest,
  PaymentRejected | AuthorizationAlreadyBound | FacilitatorUnavailable | SqlError.SqlError
>

export class PaymentCredentials extends Context.Service<PaymentCredentials>()(
  "spirit-altar/payments/PaymentCredentials",
  {
    make: Effect.gen(function* () {
      const verifier = yield* PaymentVerifier
      const cards = yield* Effect.serviceOption(CardRail)
      const lookup = yield* Lookup
      const { trace } = yield* UsedAuthorization
      const token = yield* TokenWatch

      /** The purchase's own attempt that used the payment. Fails with a conflict if another purchase used it. */
      const duplicateOf = Effect.fnUntraced(function* (key: string, payment?: Payment) {
        const { attempt, paymentBound } = yield* lookup.state(key, { slots: [] }, payment)
        if (paymentBound && Option.isNone(attempt)) return yield* new AuthorizationAlreadyBound({})
        return Option.map(attempt, (attempt): DuplicateRequest => ({ _tag: "Duplicate", attempt }))
      })

      const traced = (payment: ChainPayment, payload: string, refusal: PaymentRejected, terms: Terms) =>
        trace(payment, refusal, terms).pipe(
          Effect.catchTag("ChainUnavailable", unavailable("authorization search failed", unproven)),
          Effect.map((found) => presented(found, payload)),
        )

      const onChain = Effect.fnUntraced(function* (act: SoldAct, request: CredentialRequest, terms: Terms) {
        const sale = { ...saleOf(act, request.url, request.parameters), bodySha256: request.bodySha256 }
        const { payload, payment, verdict } = yield* verifier.verify(request.payment ?? noHeader, terms, sale)
        if (verdict._tag === "Verified") return presented(payment, payload, verdict.balance)
        // The database decides whose payment it is, independent of the chain.
        const duplicate = yield* duplicateOf(request.key, payment)
        if (Option.isSome(duplicate)) return duplicate.value
        if (verdict._tag === "Unverified") {
          return yield* unavailable("payment verification failed", new FacilitatorUnavailable({}))(verdict.cause)
        }
        const { isTraceable, refusal } = verdict
        return yield* isTraceable ? traced(payment, payload, refusal, terms) : refusal
      })

      const byCard = (act: SoldAct, request: CredentialRequest, card: string) =>
        Effect.map(Option.isNone(cards) ? notHere : cards.value.verify(card, act, request), (payment) =>
          presented(payment, ""),
        )

      /** A token that is paused, or that blocks our wallet, refuses every transfer. The payer is not to blame. */
      const blame = Effect.fnUntraced(function* (rejected: PaymentRejected) {
        const obstacle = rejected.reason === unexplained ? yield* token.obstacleNow : undefined
        return yield* obstacle === undefined ? rejected : notSettled(obstacle, "This request charged nothing.")
      })

      const read = Effect.fnUntraced(function* (act: SoldAct, request: CredentialRequest, terms: Terms) {
        const read: Presented =
          request.card === undefined ? onChain(act, request, terms) : byCard(act, request, request.card)
        return yield* read.pipe(
          Effect.catchTag("PaymentRejected", (rejected) =>
            Effect.flatMap(duplicateOf(request.key), (duplicate) =>
              Option.isSome(duplicate) ? Effect.succeed(duplicate.value) : blame(rejected),
            ),
          ),
        )
      })

      /** The payment of a verified authorization that the token calls used by now: a stranger may have broadcast it. */
      const paidByNow = (payment: ChainPayment, payload: string, terms: Terms) =>
        traced(payment, payload, usedByNow, terms)

      /** Whether a wallet that has paid here before signed this payment for this offer. */
      const isKnown = Effect.fnUntraced(function* (act: SoldAct, request: CredentialRequest, terms: Terms) {
        if (request.payment === undefined) return false
        const sale = saleOf(act, request.url, request.parameters)
        const signed = verifier.authorizationIn(request.payment, terms, sale)
        if (Option.isNone(signed) || !(yield* lookup.hasPaid(signed.value.from))) return false
        return yield* Effect.orElseSucceed(verifier.isSigner(signed.value, terms), () => false)
      })

      return { read, paidByNow, isKnown }
    }),
  },
) {
  static readonly layer = Layer.effect(this, this.make)
}
