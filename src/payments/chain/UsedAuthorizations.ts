/** Traces the money of a used authorization that no attempt holds. */
import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import type { Hex } from "viem"
import { BoundedMap } from "../../platform/BoundedMap.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { UnmatchedPayments } from "../store/Unmatched.ts"
import { Chain } from "./Chain.ts"
import { ChainUnavailable } from "./Rpc.ts"
import { alreadyUsed, type SignedAuthorization } from "./Eip3009.ts"
import type { Evidence } from "./Evidence.ts"
import { type ChainPayment, claimOf } from "../Payment.ts"
import { PaymentRejected } from "../PaymentRejected.ts"
import type { Terms } from "../PaymentTerms.ts"
import { longestLife } from "../verify/Offer.ts"
import type { RefusedPayment } from "../verify/PaymentVerifier.ts"

export interface FoundPayment {
  readonly authorization: SignedAuthorization
  readonly payload: string
  /** At most the number of its block and of the final block, since its block may be reorganised. */
  readonly fromBlock: bigint
  readonly transaction: Hex
}

/** Seconds around an authorization's expiry in which its use is searched for. */
const searchedSeconds = 86_400n

/** Authorizations traced concurrently. Each may take many node requests. */
const followedAtOnce = 4

/** Maximum number of cached final verdicts. */
const verdictsKept = 10_000

/** Above every block: a search from here reads no logs and only queries the state. */
const aboveAll = 2n ** 63n

/** Whether no third party can have had the signature for long, so that its presenter may claim the payment. */
const isFresh = ({ validAfter, validBefore }: SignedAuthorization, terms: Terms, now: bigint) =>
  validAfter <= now && now < validBefore && validBefore <= now + longestLife(terms)

const used = (message: string) => new PaymentRejected({ reason: alreadyUsed, message })

const secondsOf = (millis: number) => BigInt(Math.floor(millis / 1000))

const unclaimed = (transaction: string) =>
  used(
    `This authorization paid us in transaction ${transaction}, but belongs to no purchase here. The payment is recorded for the operator. Do not sign again before the operator has decided. This request charged nothing.`,
  )

const canceled = (where: string) =>
  used(`The wallet cancelled this authorization${where}, so it never pays. Nothing was charged. Sign a new one.`)

const elsewhere = (where: string) =>
  used(
    `This authorization was used${where}, which did not pay us its amount. This request charged nothing. Sign a new one.`,
  )

const unsearched = used(
  "This authorization was used or cancelled. The server does not search for one that expires more than a day from now, or expired more than a day ago. This request charged nothing. Sign a new one once your wallet shows that it did not pay us.",
)

const unproven = (reason: string) => new ChainUnavailable({ method: "Chain.usedBy", reason })

/** A final outcome that did not pay us stays so. Used and expired unused is a contradiction. */
const verdictOf = (evidence: Evidence & { readonly _tag: "Void" }) => {
  const { reason } = evidence
  const where = evidence.transaction === undefined ? " in a transaction" : ` in transaction ${evidence.transaction}`
  switch (reason) {
    case "authorization_canceled":
      return Option.some(canceled(where))
    case "authorization_spent_elsewhere":
      return Option.some(elsewhere(where))
    case "authorization_expired":
      return Option.none()
  }
}

export class UsedAuthorizations extends Context.Service<UsedAuthorizations>()(
  "spirit-altar/payments/chain/UsedAuthorizations",
  {
    make: Effect.gen(function* () {
      const chain = yield* Chain
      const unclaimedPayments = yield* UnmatchedPayments
      const clock = yield* DatabaseClock
      const turn = yield* Semaphore.make(followedAtOnce)
      /** By claim and amount, oldest first: one nonce may be signed for two amounts. */
      const verdicts = new BoundedMap<string, PaymentRejected>(verdictsKept)

      /** Whether the state reports it unused. A forged authorization costs nothing, so it must not start a search. */
      const isUnused = (authorization: SignedAuthorization) =>
        chain
          .evidence({ authorization, fromBlock: aboveAll, transaction: Option.none(), patience: Duration.zero })
          .pipe(Effect.map((evidence) => evidence._tag === "Void" || (evidence._tag === "Open" && evidence.unused)))

      /** The transfer that paid us. Fails without proof. */
      const follow = Effect.fnUntraced(function* (
        { authorization, refusal }: RefusedPayment,
        name: string,
        now: bigint,
      ) {
        const { validBefore } = authorization
        // The dry run reported it used, so an unused state is a contradiction between two nodes.
        if (refusal.reason !== alreadyUsed && (yield* isUnused(authorization))) return yield* refusal
        if (validBefore > now + searchedSeconds || validBefore < now - searchedSeconds) return yield* unsearched
        const evidence = yield* chain.usedBy(authorization)
        if (evidence._tag === "Paid") return evidence
        const verdict = evidence._tag === "Void" ? verdictOf(evidence) : Option.none()
        if (Option.isNone(verdict))
          return yield* unproven("nothing that is final, or answers that contradict each other")
        verdicts.set(name, verdict.value)
        return yield* verdict.value
      }, turn.withPermits(1))

      /**
       * The payment that a refused one has already made and that may be claimed. Otherwise fails with an accurate
       * refusal, or with `ChainUnavailable` while nothing is proven.
       */
      const trace = Effect.fn("UsedAuthorizations.trace")(function* (refused: RefusedPayment, terms: Terms) {
        const { authorization, payload } = refused
        const { network } = terms
        const payment: ChainPayment = {
          rail: "x402",
          network,
          authorization,
          fromBlock: 0n,
          transaction: Option.none(),
        }
        const now = secondsOf((yield* clock.now).millis)
        const noted = yield* unclaimedPayments.find(payment)
        if (Option.isSome(noted)) {
          const { foundAtMillis, transaction } = noted.value
          // The payment of a failed attempt is recorded while it is fresh, and may be claimed as long as that lasts.
          const isClaimable = [secondsOf(foundAtMillis), now].every((at) => isFresh(authorization, terms, at))
          if (!isClaimable) return yield* unclaimed(transaction)
        }
        const name = `${claimOf(payment)}:${authorization.value}`
        const verdict = verdicts.get(name)
        if (verdict !== undefined) return yield* verdict

        const { block, transaction } = yield* follow(refused, name, now)
        const final = yield* chain.final
        if (isFresh(authorization, terms, now) && final.timestamp < authorization.validBefore) {
          const fromBlock = block.number < final.number ? block.number : final.number
          return { authorization, payload, fromBlock, transaction }
        }
        if (!(yield* chain.isFinal(block))) return yield* unproven("paid in a block that is not final")
        yield* unclaimedPayments.note(payment, transaction)
        return yield* unclaimed(transaction)
      })

      return { trace }
    }),
  },
) {
  static readonly layer = Layer.effect(this, this.make)
}
