/** Judges the credential of a request: valid, already used by the same purchase, or refused. */
import { Context, Effect, Layer, Option, type Schema, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import {
  AuthorizationAlreadyBound,
  FacilitatorUnavailable,
  PaymentFailed,
  PaymentInvalid,
} from "../../schema/payments/Errors.ts"
import { notSettled } from "./Availability.ts"
import { CardRail, type CardRequest, notHere } from "./card/Rail.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { PayerBalance } from "./store/Claim.ts"
import { Lookup } from "./store/Lookup.ts"
import type { SoldAct } from "./Act.ts"
import { type ChainPayment, type Payment, PaymentRejected } from "./Payment.ts"
import { saleOf, type Terms } from "./PaymentTerms.ts"
import { ChainUnavailable } from "./x402/chain/Rpc.ts"
import { alreadyUsed, type SignedAuthorization, unexplained } from "./x402/chain/Eip3009.ts"
import { longestLife, refuseMember } from "./x402/verify/Offer.ts"
import { type PaymentHeader, read as readHeader } from "./x402/verify/Header.ts"
import { TokenWatch } from "./x402/chain/NodeWatch.ts"
import { PaymentVerifier } from "./x402/verify/PaymentVerifier.ts"
import { log, type LogMessage } from "../platform/LogMessages.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { Chain } from "./x402/chain/Chain.ts"
import { unreachable } from "./x402/settle/Settlement.ts"
import { type Conclusion, Evidence } from "./x402/chain/Evidence.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"

/** Seconds around an authorization's expiry in which its use is searched for. */
const searchedSeconds = 86_400n

/** Authorizations followed concurrently. Each may take many node requests. */
const followedAtOnce = 4

/** Whether no third party can have had the signature for long, so that its presenter may claim the payment. */
const isFresh = ({ validAfter, validBefore }: SignedAuthorization, terms: Terms, now: bigint) =>
  validAfter <= now && now < validBefore && validBefore <= now + longestLife(terms)

const used = (message: string) => new PaymentRejected({ reason: alreadyUsed, message })

const secondsOf = (millis: number) => BigInt(Math.floor(millis / 1000))

const unclaimed = (transaction: string) =>
  used(
    `This authorization paid us in transaction ${transaction}, but belongs to no purchase here. The payment is recorded for the operator. Do not sign again before the operator has decided. This request charged nothing.`,
  )

const unsearched = used(
  "This authorization was used or cancelled. The server does not search for one that expires more than a day from now, or expired more than a day ago. This request charged nothing. Sign a new one once your wallet shows that it did not pay us.",
)

const unprovenBy = (reason: string) => new ChainUnavailable({ method: "Evidence.usedBy", reason })

/** The refusal of an authorization that ended in a final block without paying. */
const endedBy = ({ reason, transaction }: Conclusion & { readonly _tag: "Void" }) => {
  const where = transaction === undefined ? " in a transaction" : ` in transaction ${transaction}`
  return reason === "authorization_canceled"
    ? used(`The wallet cancelled this authorization${where}, so it never pays. Nothing was charged. Sign a new one.`)
    : used(
        `This authorization was used${where}, which did not pay us its amount. This request charged nothing. Sign a new one.`,
      )
}

/** Follows the money of a used authorization that no attempt holds: it may have paid us before its request arrived. */
const tracer = Effect.gen(function* () {
  const chain = yield* Chain
  const { usedBy } = yield* Evidence
  const unmatched = yield* UnmatchedPayments
  const clock = yield* DatabaseClock
  const turn = yield* Semaphore.make(followedAtOnce)

  /** The transfer that paid us. A forged authorization costs nothing, so only a used one starts a search. */
  const follow = Effect.fnUntraced(function* (
    authorization: SignedAuthorization,
    refusal: PaymentRejected,
    now: bigint,
  ) {
    const { validBefore } = authorization
    if (validBefore > now + searchedSeconds || validBefore < now - searchedSeconds) {
      return yield* refusal.reason === alreadyUsed ? unsearched : refusal
    }
    const found = yield* usedBy(authorization)
    if (found._tag === "Paid") return found
    const isUnused = found._tag === "Open" ? found.unused : found.reason === "authorization_expired"
    // The dry run reported it used: an unused state is a contradiction between two nodes.
    if (isUnused && refusal.reason !== alreadyUsed) return yield* refusal
    if (isUnused || found._tag === "Open")
      return yield* unprovenBy("nothing is final, or answers contradict each other")
    return yield* endedBy(found)
  }, turn.withPermits(1))

  /**
   * The payment that a refused one has already made and that may be claimed. Otherwise fails with an accurate refusal, or
   * with `ChainUnavailable` while nothing is proven.
   */
  const trace = Effect.fn("PaymentCredentials.trace")(function* (
    payment: ChainPayment,
    refusal: PaymentRejected,
    terms: Terms,
  ) {
    const { authorization } = payment
    const now = secondsOf((yield* clock.now).millis)
    const recorded = yield* unmatched.find(payment)
    if (Option.isSome(recorded)) {
      const { foundAtMillis, transaction } = recorded.value
      // Recorded while it is fresh, it may be claimed as long as that lasts.
      const isClaimable = [secondsOf(foundAtMillis), now].every((at) => isFresh(authorization, terms, at))
      if (!isClaimable) return yield* unclaimed(transaction)
    }
    const { block, transaction } = yield* follow(authorization, refusal, now)
    const final = yield* chain.final
    if (isFresh(authorization, terms, now) && final.timestamp < authorization.validBefore) {
      // Its block may be reorganised.
      const fromBlock = block.number < final.number ? block.number : final.number
      return { ...payment, fromBlock, transaction: Option.some(transaction) } satisfies ChainPayment
    }
    if (!(yield* chain.isFinal(block))) return yield* unprovenBy("paid in a block that is not final")
    yield* unmatched.recordTransfer(payment, { amount: authorization.value, transaction })
    return yield* unclaimed(transaction)
  })

  return trace
})

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
  error instanceof PaymentInvalid ||
  error instanceof AuthorizationAlreadyBound ||
  (error instanceof PaymentFailed && error.reason !== unreachable) ||
  error === unproven

const presented = (payment: Payment, balance?: PayerBalance): PresentedPayment => ({
  _tag: "Presented",
  payment,
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
      const trace = yield* tracer
      const token = yield* TokenWatch

      /** The purchase's own attempt that used the payment. Fails with a conflict if another purchase used it. */
      const duplicateOf = Effect.fnUntraced(function* (key: string, payment?: Payment) {
        const { attempt, paymentBound } = yield* lookup.state(key, { slots: [] }, payment)
        if (paymentBound && Option.isNone(attempt)) return yield* new AuthorizationAlreadyBound({})
        return Option.map(attempt, (attempt): DuplicateRequest => ({ _tag: "Duplicate", attempt }))
      })

      const traced = (payment: ChainPayment, refusal: PaymentRejected, terms: Terms) =>
        trace(payment, refusal, terms).pipe(
          Effect.catchTag("ChainUnavailable", unavailable("authorization search failed", unproven)),
          Effect.map((found) => presented(found)),
        )

      const onChain = Effect.fnUntraced(function* (act: SoldAct, request: CredentialRequest, terms: Terms) {
        const sale = { ...saleOf(act, request.url, request.parameters), bodySha256: request.bodySha256 }
        const { payment, verdict } = yield* verifier.verify(request.payment ?? noHeader, terms, sale)
        if (verdict._tag === "Verified") return presented(payment, verdict.balance)
        // The database decides whose payment it is, independent of the chain.
        const duplicate = yield* duplicateOf(request.key, payment)
        if (Option.isSome(duplicate)) return duplicate.value
        if (verdict._tag === "Unverified") {
          return yield* unavailable("payment verification failed", new FacilitatorUnavailable({}))(verdict.cause)
        }
        const { isTraceable, refusal } = verdict
        return yield* isTraceable ? traced(payment, refusal, terms) : refusal
      })

      const byCard = (act: SoldAct, request: CredentialRequest, card: string) =>
        Effect.map(Option.isNone(cards) ? notHere : cards.value.verify(card, act, request), (payment) =>
          presented(payment),
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
      const paidByNow = (payment: ChainPayment, terms: Terms) => traced(payment, usedByNow, terms)

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
