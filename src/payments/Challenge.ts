/** The 402 answers of a paid request: an offer, a refused payment, a failed attempt. */
import { Effect, Option } from "effect"
import { PaymentFailed, PaymentInvalid, PaymentRequired, PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import type { Refund } from "../../schema/payments/Refund.ts"
import type { FailedAttempt } from "./store/Attempt.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"
import { Refunds } from "./store/Refunds.ts"
import type { SoldAct } from "./Act.ts"
import type { PaidRequest } from "./Request.ts"
import type { PaymentRejected } from "./PaymentRejected.ts"
import { claimOf, type Rail } from "./Payment.ts"
import { challengeOf, PaymentTerms, saleOf, type Terms } from "./PaymentTerms.ts"
import { couldNotPay } from "./decision/Decision.ts"
import type { VoidReason } from "./chain/Evidence.ts"

/** URLs carry parameters, so the cache needs a limit. */
const offersKept = 1_000

/** Failures after which the authorization can never pay. Any other failure leaves it unused and valid. */
const ends: ReadonlySet<string> = new Set<VoidReason>([
  "authorization_expired",
  "authorization_canceled",
  "authorization_spent_elsewhere",
])

/** For failed attempts whose authorization any holder can still submit once the wallet has funds. */
const alive =
  "This request charged nothing; until its validBefore this authorization could still be used, so keep it until then, or cancel it."

/** Failures where a new key and the same wallet would fail again: the message names the cause and the remedy. */
const failures: Readonly<Record<string, string>> = {
  gas_too_high:
    "The wallet's contract needs more gas to check its signature than this server pays for, so the payment was not sent.",
  [couldNotPay]:
    "The transaction that was to charge this wallet is in a final block and did not: the wallet held less USDC than the price. The claims of this payment are released. Anyone who saw that transaction can send the authorization again once the wallet holds the price. Such a payment is recorded for the operator. It buys this if you send the same payment with a new Idempotency-Key until its validBefore.",
}

/** For a payment that never reached the facilitator. A retry may reach it. */
const unheard = `The facilitator was unreachable, so this payment was not submitted. ${alive} Start again later with a new Idempotency-Key.`

/** The message for a payment that was not settled or not sent and whose authorization stays valid. */
const aliveAfter = (reason: string) => {
  if (reason === "facilitator_unreachable") return unheard
  const why = failures[reason]
  return why === undefined
    ? `This payment did not settle. ${alive} Start again with a new Idempotency-Key.`
    : `${why} ${alive} Pay from another wallet, with a new Idempotency-Key.`
}

/** The message for an attempt whose payment was found after the attempt had failed. */
const paidAfterwards = (rail: Rail, transaction: string) =>
  rail === "card"
    ? `This card was charged after its attempt had ended unpaid: payment intent ${transaction} is recorded for the operator, who delivers or refunds it. Do not pay again before the operator has decided.`
    : `This payment was found after its attempt had ended unpaid: transaction ${transaction} paid us and is recorded for the operator. Do not sign again: until its validBefore, send this same payment with a new Idempotency-Key to complete the purchase; after that, ask the operator.`

/** The message once the operator paid it back. */
const refundedAfterwards = ({ amountAtomic, payer, transaction }: Refund) =>
  `This payment was found after its attempt had ended unpaid, and ${amountAtomic} atomic USDC were refunded to ${payer} in transaction ${transaction}. To buy, start again with a new Idempotency-Key and a new payment.`

/** Each constructor fails with its 402, or with the names of missing settings. */
export const make = Effect.gen(function* () {
  const setting = yield* PaymentTerms
  const unclaimed = yield* UnmatchedPayments
  const refunds = yield* Refunds
  const terms: Effect.Effect<Terms, PaymentsUnavailable> =
    setting._tag === "Ready"
      ? Effect.succeed(setting.terms)
      : Effect.fail(new PaymentsUnavailable({ missing: setting.missing }))

  /** Offers by act and URL. Repeated requests get the same object. */
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
      const refund = payment.rail === "card" ? Option.none<Refund>() : yield* refunds.ofPayment(claimOf(payment))
      if (Option.isSome(refund))
        return yield* new PaymentFailed({
          reason,
          challenge,
          message: refundedAfterwards(refund.value),
          refund: refund.value,
        })
      return yield* new PaymentFailed({ reason, challenge, message: paidAfterwards(payment.rail, found.value) })
    }
    const isOver = payment.rail === "card" || ends.has(reason)
    return yield* new PaymentFailed({ reason, challenge, ...(isOver ? {} : { message: aliveAfter(reason) }) })
  })

  return { terms, required, invalid, failed }
})
