/** An authorization that no attempt of ours holds and that may have been used: where its money went, by what `Evidence` proves. */
import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import type { Hex } from "viem"
import { BoundedMap } from "../../../platform/BoundedMap.ts"
import { DatabaseClock } from "../../../platform/DatabaseClock.ts"
import { UnclaimedPayments } from "../../ledger/UnclaimedPayments.ts"
import { Chain } from "../node/Chain.ts"
import { ChainUnavailable } from "../node/Rpc.ts"
import { alreadyUsed, type SignedAuthorization } from "../verification/Eip3009.ts"
import type { Evidence } from "./Evidence.ts"
import { type ChainPayment, claimOf } from "../../Payment.ts"
import { PaymentRejected } from "../../PaymentRejected.ts"
import type { Terms } from "../../PaymentTerms.ts"
import { longestLife } from "../verification/OfferMatch.ts"
import type { RefusedPayment } from "../verification/Verifier.ts"

export interface FoundPayment {
  readonly authorization: SignedAuthorization
  readonly payload: string
  /** Neither above the block that holds it now nor above the final one: that block may be replaced. */
  readonly fromBlock: bigint
  readonly transaction: Hex
}

/** Seconds around an authorization's end in which its use is searched for. */
const searchedSeconds = 86_400n

/** Authorizations that are followed at once; each may take many questions to the node. */
const followedAtOnce = 4

/** Final verdicts that are remembered. */
const verdictsKept = 10_000

/** Above every block: a search from here reads no log, so that only the state is asked. */
const aboveAll = 2n ** 63n

/** Times within which nobody else can have had the signature for long, so that who presents it may have what it paid. */
const isFresh = ({ validAfter, validBefore }: SignedAuthorization, terms: Terms, now: bigint) =>
  validAfter <= now && now < validBefore && validBefore <= now + longestLife(terms)

const used = (message: string) => new PaymentRejected({ reason: alreadyUsed, message })

const secondsOf = (millis: number) => BigInt(Math.floor(millis / 1000))

const unclaimed = (transaction: string) =>
  used(
    `This authorization paid us in transaction ${transaction}, but belongs to no purchase we know. Do not sign again before the operator has looked; the payment is noted for them. This request charged nothing.`,
  )

const canceled = (where: string) =>
  used(
    `Its wallet cancelled this authorization${where}, so it never paid and never will. Nothing was charged; sign a new one.`,
  )

const elsewhere = (where: string) =>
  used(
    `This authorization was used up${where}, which did not pay us its amount. This request charged nothing; sign a new one.`,
  )

const unsearched = used(
  "This authorization was used or cancelled, and of one that ends more than a day from now, or ended more than a day ago, where is not looked up. This request charged nothing; sign a new one once your wallet shows that it did not pay us.",
)

const unproven = (reason: string) => new ChainUnavailable({ method: "Chain.usedBy", reason })

/** What is final and did not pay us stays so; an authorization that is used and has expired unused is a contradiction. */
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
  "spirit-altar/payments/x402/evidence/UsedAuthorizations",
  {
    make: Effect.gen(function* () {
      const chain = yield* Chain
      const unclaimedPayments = yield* UnclaimedPayments
      const clock = yield* DatabaseClock
      const turn = yield* Semaphore.make(followedAtOnce)
      /** By claim and amount, oldest first: one nonce may be signed for two amounts. */
      const verdicts = new BoundedMap<string, PaymentRejected>(verdictsKept)

      /** Whether its state says that it is unused; a search costs a forger nothing, so it is not begun for that. */
      const isUnused = (authorization: SignedAuthorization) =>
        chain
          .evidence({ authorization, fromBlock: aboveAll, transaction: Option.none(), patience: Duration.zero })
          .pipe(Effect.map((evidence) => evidence._tag === "Void" || (evidence._tag === "Open" && evidence.unused)))

      /** The transfer that paid us; whatever is not proven fails. */
      const follow = Effect.fnUntraced(function* (
        { authorization, refusal }: RefusedPayment,
        name: string,
        now: bigint,
      ) {
        const { validBefore } = authorization
        // What the dry run has called used is not believed to be unused: two nodes contradict each other.
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
       * The payment that a refused one has already made and may be claimed; otherwise its refusal, in true words, or
       * `ChainUnavailable` while nothing is proven.
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
          // Of an attempt that had failed it is noted within its time, and as long as that lasts it may be claimed again.
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
