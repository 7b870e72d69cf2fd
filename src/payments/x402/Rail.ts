/** Payment by a signed transfer of USDC, which a relayer or facilitator sends and the chain proves. */
import { Duration, Effect, Option } from "effect"
import { FacilitatorUnavailable } from "../../../schema/payments/Errors.ts"
import * as DatabaseWatch from "../../platform/DatabaseWatch.ts"
import { log, type LogMessage } from "../../platform/LogMessages.ts"
import { inquiryTimed, settlementTimed } from "../Changes.ts"
import { type ChainPayment, type PaymentRejected, refuseMember } from "../Payment.ts"
import { offerOf, type Terms } from "../PaymentTerms.ts"
import { type Inquiry, notPayable, overdrawn, type Rail, unproven, type Verified } from "../Rail.ts"
import type { PayerBalance } from "../store/Claim.ts"
import { Lookup } from "../store/Lookup.ts"
import { Chain } from "./chain/Chain.ts"
import { alreadyUsed, unexplained } from "./chain/Eip3009.ts"
import { Evidence, findingOf } from "./chain/Evidence.ts"
import { TokenWatch } from "./chain/NodeWatch.ts"
import { type ChainUnavailable, isFinalBy } from "./chain/Rpc.ts"
import { facts } from "./Facts.ts"
import { Settlement, type Submission } from "./settle/Settlement.ts"
import { PaymentVerifier } from "./verify/PaymentVerifier.ts"
import * as PriorPayment from "./verify/PriorPayment.ts"

export interface X402Config {
  readonly terms: Terms
  /** How long a request waits for the reported transaction. */
  readonly patience: Duration.Duration
}

const usedByNow = refuseMember(alreadyUsed, "payload.authorization.nonce", "is used.")

const unavailable = (what: LogMessage, refusal: FacilitatorUnavailable) => (error: ChainUnavailable) =>
  Effect.andThen(log(what, {}, error), Effect.fail(refusal))

/** The transaction that a report names. */
const transactionIn = (submission: Submission | undefined): Option.Option<`0x${string}`> =>
  submission?._tag === "Submitted"
    ? Option.some(submission.transaction)
    : submission?._tag === "Unclear"
      ? submission.transaction
      : Option.none()

const verified = (payment: ChainPayment, balance?: PayerBalance): Verified<"x402"> => ({
  _tag: "Verified",
  payment,
  isMade: Option.isSome(payment.transaction),
  balance,
})

export const make = Effect.fnUntraced(function* ({ patience, terms }: X402Config) {
  const verifier = yield* PaymentVerifier
  const chain = yield* Chain
  const token = yield* TokenWatch
  const settlement = yield* Settlement
  const lookup = yield* Lookup
  const trace = yield* PriorPayment.make
  const { evidence: search } = yield* Evidence
  const inquiring = DatabaseWatch.watched("chain inquiry failed")

  /** A token that is paused, or that blocks our wallet, refuses every transfer. The payer is not to blame. */
  const blame = Effect.fnUntraced(function* (rejected: PaymentRejected) {
    const obstacle = rejected.reason === unexplained ? yield* token.obstacleNow : undefined
    return yield* obstacle === undefined ? rejected : notPayable(obstacle)
  })

  const traced = (payment: ChainPayment, refusal: PaymentRejected) =>
    trace(payment, refusal, terms).pipe(
      Effect.catchTag("ChainUnavailable", unavailable("authorization search failed", unproven)),
      Effect.map((made) => verified(made)),
    )

  const verify: Rail<"x402">["verify"] = Effect.fnUntraced(function* (credential, order) {
    const { payment, judgement } = yield* Effect.catchTag(
      verifier.verify(credential, terms, offerOf(order)),
      "PaymentRejected",
      blame,
    )
    switch (judgement._tag) {
      case "Verified":
        return verified(payment, judgement.balance)
      case "Refused": {
        const { isTraceable, refusal } = judgement
        const unlessHeld = isTraceable ? traced(payment, refusal) : Effect.fail(refusal)
        return { _tag: "Unverified", payment, unlessHeld: Effect.catchTag(unlessHeld, "PaymentRejected", blame) }
      }
      case "Unanswered": {
        const refuse = unavailable("payment verification failed", new FacilitatorUnavailable({}))
        return { _tag: "Unverified", payment, unlessHeld: refuse(judgement.cause) }
      }
    }
  })

  /** Some payments in flight may have left the balance already, so it is read with the state of their nonces. */
  const reverify: Rail<"x402">["reverify"] = Effect.fnUntraced(function* ({ balance, payment }, inFlight) {
    if (balance === undefined || balance.isExact) return yield* overdrawn
    const { balanceAtomic, isUsed } = yield* chain
      .balanceBefore(payment.authorization, inFlight)
      .pipe(Effect.mapError(() => new FacilitatorUnavailable({})))
    // The balance may be low because a stranger broadcast this very authorization, and it has paid us.
    if (isUsed) return yield* traced(payment, usedByNow)
    // Keeps the earlier time: the list of payments in flight dates from then.
    return verified(payment, { ...balance, balanceAtomic, isExact: true })
  })

  const hasPaid: Rail<"x402">["hasPaid"] = Effect.fnUntraced(function* (credential, order) {
    const signed = verifier.authorizationIn(credential, terms, offerOf(order))
    if (Option.isNone(signed) || !(yield* lookup.hasPaid(signed.value.from))) return false
    return yield* Effect.orElseSucceed(verifier.isSigner(signed.value, terms), () => false)
  })

  const submit: Rail<"x402">["submit"] = (attempt, payment, order) =>
    Option.isSome(payment.transaction)
      ? Effect.succeed({ _tag: "Submitted", transaction: payment.transaction.value })
      : settlementTimed(settlement.submit({ attempt, payment, offer: offerOf(order) }))

  const evidence: Rail<"x402">["evidence"] = Effect.fnUntraced(function* (attempt, payment, submission, mayWait) {
    const { authorization, fromBlock, network } = payment
    const reference = Option.orElse(transactionIn(submission), () => payment.transaction)
    const inquiry = { reference, payment: { ...payment, transaction: reference } }
    const silence: Inquiry<"x402"> = { ...inquiry, finding: { is: "silence" } }
    // This node cannot see a payment on another network.
    if (network !== terms.network) return silence
    const wait = mayWait ? patience : Duration.zero
    const conclusion = yield* search({ authorization, fromBlock, transaction: reference, patience: wait }).pipe(
      inquiryTimed,
      (asking) => inquiring(asking, { attempt: attempt.id }),
      Effect.option,
    )
    if (Option.isNone(conclusion)) return silence
    const finding = findingOf(conclusion.value)
    if (finding.is === "paid") {
      const { block, transaction } = finding.proof
      const place = { block: block.number, transaction }
      const finality = Effect.map(
        Effect.orElseSucceed(isFinalBy(chain, block), () => false),
        (isFinal) => (isFinal ? Option.some(place) : Option.none()),
      )
      return { ...inquiry, finding: { is: "paid", proof: { rail: "x402", payment, ...place } }, finality }
    }
    // Answers that contradict each other say nothing about the wallet: it may have paid.
    if (finding.is !== "unused" && finding.is !== "void") return { ...inquiry, finding }
    const isSpent = yield* settlement.isSpent(attempt.id, payment, finding.is === "void")
    // While the authorization is unused, only a final transaction of ours that did not pay fails the attempt early.
    return { ...inquiry, finding: finding.is === "unused" && isSpent ? { is: "spent" } : finding }
  })

  const rail: Rail<"x402"> = {
    ...facts,
    sells: () => true,
    obstacle: {
      toOffer: Effect.zipWith(token.obstacle, settlement.obstacle, (ofToken, ofSettlement) => ofToken ?? ofSettlement, {
        concurrent: true,
      }),
      toClaim: settlement.obstacle,
    },
    funds: settlement.funds,
    costs: "verification",
    hasPaid,
    verify,
    reverify,
    submit,
    resubmit: settlement.resubmit,
    evidence,
  }
  return rail
})
