/** Follows the money of a used authorization that no attempt holds: it may have paid us before its request arrived. */
import { Effect, Option, Semaphore } from "effect"
import { DatabaseClock } from "../../../platform/DatabaseClock.ts"
import { type ChainPayment, PaymentRejected } from "../../Payment.ts"
import type { Terms } from "../../PaymentTerms.ts"
import { UnmatchedPayments } from "../../store/Unmatched.ts"
import { Chain } from "../chain/Chain.ts"
import { alreadyUsed, type SignedAuthorization } from "../chain/Eip3009.ts"
import { type Conclusion, Evidence } from "../chain/Evidence.ts"
import { ChainUnavailable } from "../chain/Rpc.ts"
import { longestLife } from "./Offer.ts"

/** Seconds around an authorization's expiry in which its use is searched for. */
const searchedSeconds = 86_400n

/** Authorizations followed concurrently. Each may take many node requests. */
const followedAtOnce = 4

/** Whether no third party can have had the signature for long, so that its presenter may claim the payment. */
const isFresh = ({ validAfter, validBefore }: SignedAuthorization, terms: Terms, now: bigint) =>
  validAfter <= now && now < validBefore && validBefore <= now + longestLife(terms)

const used = (message: string) => new PaymentRejected({ reason: alreadyUsed, message })

const secondsOf = (millis: number) => BigInt(Math.floor(millis / 1000))

const unmatched = (transaction: string) =>
  used(
    `This authorization paid us in transaction ${transaction}, but belongs to no purchase here. The payment is recorded for the operator. Do not sign again before the operator has decided. This request charged nothing.`,
  )

const unsearched = used(
  "This authorization was used or cancelled. The server does not search for one that expires more than a day from now, or expired more than a day ago. This request charged nothing. Sign a new one once your wallet shows that it did not pay us.",
)

const noProof = (reason: string) => new ChainUnavailable({ method: "Evidence.usedBy", reason })

/** The refusal of an authorization that ended in a final block without paying. */
const endedBy = ({ reason, transaction }: Conclusion & { readonly _tag: "Void" }) => {
  const where = transaction === undefined ? " in a transaction" : ` in transaction ${transaction}`
  return reason === "authorization_canceled"
    ? used(`The wallet cancelled this authorization${where}, so it never pays. Nothing was charged. Sign a new one.`)
    : used(
        `This authorization was used${where}, which did not pay us its amount. This request charged nothing. Sign a new one.`,
      )
}

/**
 * Returns the payment that a refused one has already made and that may be claimed. Otherwise fails with an accurate
 * refusal, or with `ChainUnavailable` while nothing is proven. No attempt may hold the authorization.
 */
export const make = Effect.gen(function* () {
  const chain = yield* Chain
  const { usedBy } = yield* Evidence
  const { find, recordTransfer } = yield* UnmatchedPayments
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
    const conclusion = yield* usedBy(authorization)
    if (conclusion._tag === "Paid") return conclusion
    const isUnused = conclusion._tag === "Open" ? conclusion.unused : conclusion.reason === "authorization_expired"
    // The dry run reported it used: an unused state is a contradiction between two nodes.
    if (isUnused && refusal.reason !== alreadyUsed) return yield* refusal
    if (isUnused || conclusion._tag === "Open")
      return yield* noProof("nothing is final, or answers contradict each other")
    return yield* endedBy(conclusion)
  }, turn.withPermits(1))

  return Effect.fn("PriorPayment.trace")(function* (payment: ChainPayment, refusal: PaymentRejected, terms: Terms) {
    const { authorization } = payment
    const now = secondsOf((yield* clock.now).millis)
    const recorded = yield* find(payment)
    if (Option.isSome(recorded)) {
      const { recordedAtMillis, transaction } = recorded.value
      // Recorded while it is fresh, it may be claimed as long as that lasts.
      const isClaimable = [secondsOf(recordedAtMillis), now].every((at) => isFresh(authorization, terms, at))
      if (!isClaimable) return yield* unmatched(transaction)
    }
    const { block, transaction } = yield* follow(authorization, refusal, now)
    const final = yield* chain.final
    if (isFresh(authorization, terms, now) && final.timestamp < authorization.validBefore) {
      // Its block may be reorganised.
      const fromBlock = block.number < final.number ? block.number : final.number
      return { ...payment, fromBlock, transaction: Option.some(transaction) } satisfies ChainPayment
    }
    if (!(yield* chain.isFinal(block))) return yield* noProof("paid in a block that is not final")
    yield* recordTransfer(payment, { amount: authorization.value, transaction })
    return yield* unmatched(transaction)
  })
})
