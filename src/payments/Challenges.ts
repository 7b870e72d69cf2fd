/** Every 402 of a paid request: the offer, the refused payment, and the attempt that failed. */
import { Effect, Option } from "effect"
import { PaymentFailed, PaymentInvalid, PaymentRequired, PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import type { FailedAttempt } from "./ledger/Attempt.ts"
import { contractsRefused, unknownRefused } from "./ledger/OpenPayments.ts"
import { UnclaimedPayments } from "./ledger/UnclaimedPayments.ts"
import type { SoldAct } from "./PaidAct.ts"
import type { PaidRequest } from "./PaidRequest.ts"
import type { PaymentRejected } from "./PaymentRejected.ts"
import type { Rail } from "./Payment.ts"
import { challengeOf, PaymentTerms, saleOf, type Terms } from "./PaymentTerms.ts"
import { couldNotPay } from "./protocol/Decision.ts"
import type { VoidReason } from "./x402/evidence/Evidence.ts"

/** URLs can carry parameters: what is kept must end. */
const offersKept = 1_000

/** Ends after which an authorization never pays. Every other failure left it unused, and its signature stays good. */
const ends: ReadonlySet<string> = new Set<VoidReason>([
  "authorization_expired",
  "authorization_canceled",
  "authorization_spent_elsewhere",
])

/** A failed attempt whose authorization may be brought to the chain by whoever holds it, once its wallet has money again. */
const alive =
  "This request charged nothing; until its validBefore this authorization could still be used, so keep it until then, or cancel it."

/** What happened, and what a payer has to do otherwise, where a new key and the same wallet would fail again. */
const failures: Readonly<Record<string, string>> = {
  gas_too_high:
    "The contract of this wallet takes more gas to check its signature than this server pays for, so its payment was not sent.",
  wallet_did_not_pay:
    "An earlier payment of this wallet could be made when this server sent it and could not in its block, so for an hour this server sends none from it.",
  [contractsRefused]:
    "Payments that reverted have taken more of this server's gas within an hour than it gives away, so for a while it takes payments of a wallet with code only from one that has paid here before and whose payments never failed to pay in their block.",
  [unknownRefused]:
    "Payments of wallets that emptied themselves have taken more of this server's gas within an hour than it gives away, so for a while it takes payments only from a wallet that has paid here before and whose payments never failed to pay in their block.",
  [couldNotPay]:
    "The transaction that was to charge this wallet is in a final block and did not: the wallet held less USDC than the price. What this payment held is given back. Whoever saw that transaction may send the authorization again once the wallet holds the price; what that pays is noted for the operator, and buys this if you then send the same payment with a new Idempotency-Key until its validBefore.",
  wallet_reverted_settlement:
    "The contract of this wallet reverted an earlier payment that it had agreed to, so for an hour this server sends none from it.",
}

/** Nobody has read it, and the next one may be heard. */
const unheard = `The facilitator that brings payments to the chain could not be reached, so this payment was handed to nobody. ${alive} Start again later with a new Idempotency-Key.`

/** The same wallet may pay again at once, as what it is now. */
const nowContract = `This wallet got code after its payment was taken, so its payment was not sent. ${alive} Start again with a new Idempotency-Key; a wallet with code may have one payment more open here than it has paid.`

/** What is said of a payment that did not settle, or is not sent, where its authorization stays good. */
export const aliveAfter = (reason: string) => {
  if (reason === "facilitator_unreachable") return unheard
  if (reason === "wallet_got_code") return nowContract
  const why = failures[reason]
  return why === undefined
    ? `This payment did not settle. ${alive} Start again with a new Idempotency-Key.`
    : `${why} ${alive} Pay from another wallet, with a new Idempotency-Key.`
}

/** What is said of an attempt that had failed when its payment was found. */
const paidAfterwards = (rail: Rail, transaction: string) =>
  rail === "card"
    ? `This card was charged after its attempt had ended unpaid: payment intent ${transaction} is noted for the operator, who delivers or refunds it. Do not pay again before they have looked.`
    : `This payment was found after its attempt had ended unpaid: transaction ${transaction} paid us and is noted for the operator. Do not sign again: until its validBefore, send this same payment with a new Idempotency-Key to have what it paid for; after that, ask the operator.`

/** All of them fail: with the 402 itself, or with the names of what is not configured. */
export const make = Effect.gen(function* () {
  const setting = yield* PaymentTerms
  const unclaimed = yield* UnclaimedPayments
  const terms: Effect.Effect<Terms, PaymentsUnavailable> =
    setting._tag === "Ready"
      ? Effect.succeed(setting.terms)
      : Effect.fail(new PaymentsUnavailable({ missing: setting.missing }))

  /** Offers made so far: the same act at the same URL is offered in the same words. */
  const offers = new Map<string, PaymentRequired>()

  const required = Effect.fnUntraced(function* (act: SoldAct, request: PaidRequest) {
    const ours = yield* terms
    const name = `${act.name} ${request.url}`
    const known = offers.get(name)
    if (known !== undefined) return yield* known
    const challenge = challengeOf(ours, saleOf(act, request.url, request.parameters), "payment_required")
    const offer = new PaymentRequired({ challenge })
    if (offers.size < offersKept) offers.set(name, offer)
    return yield* offer
  })

  const invalid = Effect.fnUntraced(function* (
    act: SoldAct,
    request: PaidRequest,
    { message, reason }: PaymentRejected,
  ) {
    const challenge = challengeOf(yield* terms, saleOf(act, request.url, request.parameters), reason)
    return yield* new PaymentInvalid({ reason, message, challenge })
  })

  const failed = Effect.fnUntraced(function* (attempt: FailedAttempt) {
    const { act, amountAtomic, payment, reason, url } = attempt
    const challenge = challengeOf(yield* terms, { amountAtomic, url, description: act }, reason)
    const found = yield* unclaimed.ofFailed(attempt)
    if (Option.isSome(found)) {
      return yield* new PaymentFailed({ reason, challenge, message: paidAfterwards(payment.rail, found.value) })
    }
    const isOver = payment.rail === "card" || ends.has(reason)
    return yield* new PaymentFailed({ reason, challenge, ...(isOver ? {} : { message: aliveAfter(reason) }) })
  })

  return { terms, required, invalid, failed }
})
