/** The outcome of an attempt, and the 402 answers: an offer, a refused payment, a failed attempt. */
import { Context, Effect, Layer, Option } from "effect"
import {
  IdempotencyConflict,
  PaymentFailed,
  PaymentInvalid,
  PaymentRequired,
  PaymentsUnavailable,
} from "../../schema/payments/Errors.ts"
import type { Refund } from "../../schema/payments/Refund.ts"
import type { Attempt, FailedAttempt, PendingAttempt, SettledAttempt } from "./store/Attempt.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"
import { Refunds } from "./store/Refunds.ts"
import type { PaidRequest, SoldAct } from "./Act.ts"
import { claimOf, type PaymentRejected, type Rail } from "./Payment.ts"
import { challengeOf, PaymentTerms, saleOf, type Terms } from "./PaymentTerms.ts"
import { couldNotPay } from "./decision.ts"
import { unsettled } from "./Receipt.ts"
import { BoundedMap } from "../platform/BoundedMap.ts"
import { timestampOf } from "../platform/Time.ts"
import type { VoidReason } from "./x402/chain/Evidence.ts"
import { unreachable } from "./x402/settle/Settlement.ts"

export type Outcome =
  | { readonly _tag: "Settled"; readonly attempt: SettledAttempt; readonly replayed: boolean }
  | { readonly _tag: "Pending"; readonly attempt: PendingAttempt }

type Offered = Pick<PaidRequest, "url" | "parameters">

/** URLs carry parameters, so the cache needs a limit. The oldest offers give way to those in use. */
const offersKept = 1_000

/** Failures after which the authorization can never pay. Any other failure leaves it unused and valid. */
const ends: ReadonlySet<string> = new Set<VoidReason>([
  "authorization_expired",
  "authorization_canceled",
  "authorization_spent_elsewhere",
])

const causes: Readonly<Record<string, string>> = {
  gas_too_high:
    "The wallet's contract needs more gas to check its signature than this server pays for, so the payment was not sent. Pay from another wallet.",
  [couldNotPay]:
    "The transaction that was to charge this wallet is in a final block and did not. Most often, the wallet held less USDC than the price.",
  [unreachable]: "The facilitator was unreachable, so this payment was not submitted.",
}

/** The message for a payment that was not settled or not sent and whose authorization stays valid. */
const earlyFailure = (reason: string, until: string) =>
  `${causes[reason] ?? "This payment did not settle."} It was not charged so far. Should this authorization still be used before ${until}, the payment is recorded and paid back. Some minutes after that time, or after you cancel the authorization on chain, ask with this key again. If it still names no transaction, start again with a new Idempotency-Key.`

interface Paid {
  readonly transaction: string
  /** Otherwise its block may not be final yet. */
  readonly isRecorded: boolean
}

const paidAfterwards = (rail: Rail, { isRecorded, transaction }: Paid) =>
  rail === "card"
    ? `This card was charged after its attempt had ended unpaid: payment intent ${transaction} is recorded for the operator, who delivers or refunds it. Do not pay again before the operator has decided.`
    : `This payment was found after its attempt had ended unpaid: transaction ${transaction} paid us and is ${isRecorded ? "" : "to be "}recorded for the operator, who delivers or refunds it. Do not sign again before the operator has decided.`

const refundedAfterwards = ({ amountAtomic, payer, transaction }: Refund) =>
  `This payment was found after its attempt had ended unpaid, and ${amountAtomic} atomic USDC were refunded to ${payer} in transaction ${transaction}. To buy, start again with a new Idempotency-Key and a new payment.`

/** Each 402 is a failure, or fails with the names of missing settings. */
const make = Effect.gen(function* () {
  const setting = yield* PaymentTerms
  const unclaimed = yield* UnmatchedPayments
  const refunds = yield* Refunds
  const notConfigured = new PaymentsUnavailable({ missing: setting._tag === "Ready" ? [] : setting.missing })
  const terms: Effect.Effect<Terms, PaymentsUnavailable> =
    setting._tag === "Ready" ? Effect.succeed(setting.terms) : Effect.fail(notConfigured)

  const offers = new BoundedMap<string, PaymentRequired>(offersKept)

  const required = Effect.fnUntraced(function* (act: SoldAct, request: Offered) {
    const ours = yield* terms
    const name = `${act.name} ${request.url}`
    const known = offers.get(name)
    if (known !== undefined) return yield* known
    const challenge = challengeOf(ours, saleOf(act, request.url, request.parameters), "payment_required")
    const offer = new PaymentRequired({ challenge })
    offers.set(name, offer)
    return yield* offer
  })

  const invalid = Effect.fnUntraced(function* (
    act: SoldAct,
    request: Offered,
    { member, message, reason }: PaymentRejected,
  ) {
    const { description, priceAtomic: amountAtomic } = act
    // Clients show the challenge's `error` alone, so it says what the message says.
    const error = `${reason}: ${message}`
    const challenge = challengeOf(yield* terms, { amountAtomic, url: request.url, description }, error)
    return yield* new PaymentInvalid({ reason, message, ...(member === undefined ? {} : { member }), challenge })
  })

  const failed = Effect.fnUntraced(function* (attempt: FailedAttempt) {
    const { act, amountAtomic, payment, reason, url } = attempt
    const challenge = challengeOf(yield* terms, { amountAtomic, url, description: act }, reason)
    const settlement = payment.rail === "card" ? {} : { settlement: unsettled(payment, reason) }
    const refusal = { reason, challenge, ...settlement }
    const found = yield* unclaimed.ofFailed(attempt)
    if (Option.isSome(found)) {
      const refund = payment.rail === "card" ? Option.none<Refund>() : yield* refunds.ofPayment(claimOf(payment))
      if (Option.isSome(refund))
        return yield* new PaymentFailed({
          ...refusal,
          message: refundedAfterwards(refund.value),
          refund: refund.value,
        })
      return yield* new PaymentFailed({ ...refusal, message: paidAfterwards(payment.rail, found.value) })
    }
    if (payment.rail === "card" || ends.has(reason)) return yield* new PaymentFailed(refusal)
    const until = timestampOf(Number(payment.authorization.validBefore) * 1000)
    return yield* new PaymentFailed({
      ...refusal,
      message: earlyFailure(reason, until),
      authorizationOpenUntil: until,
    })
  })

  const answerOf = Effect.fnUntraced(function* (attempt: Attempt, replayed: boolean) {
    if (attempt.state === "failed") return yield* failed(attempt)
    const outcome: Outcome =
      attempt.state === "settled" ? { _tag: "Settled", attempt, replayed } : { _tag: "Pending", attempt }
    return outcome
  })

  const replay = (attempt: Attempt, fingerprint: string) =>
    attempt.fingerprint === fingerprint ? answerOf(attempt, true) : Effect.fail(new IdempotencyConflict({}))

  return { notConfigured, terms, required, invalid, answerOf, replay }
})

export class Challenges extends Context.Service<Challenges>()("spirit-altar/payments/Challenge", { make }) {
  static readonly layer = Layer.effect(this, this.make)
}
