/** The facts about signed transfers that hold on every server: how they come, and what to say of a failed one. */
import { expiryOf, refuse } from "../Payment.ts"
import type { RailFacts } from "../Rail.ts"
import { couldNotPay } from "../decision.ts"
import type { VoidReason } from "./chain/Evidence.ts"
import { unreachable } from "./settle/Settlement.ts"
import { decodeHeader } from "./verify/Header.ts"

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

export const facts: RailFacts<"x402"> = {
  name: "x402",
  credentialIn: ({ "payment-signature": header }) => (header === undefined ? undefined : decodeHeader(header)),
  notHere: refuse("unsupported_scheme", "This server accepts no USDC."),
  failure: (payment, reason) => {
    if (ends.has(reason)) return {}
    const until = expiryOf(payment)
    return { message: earlyFailure(reason, until), authorizationOpenUntil: until }
  },
  paidLate: ({ isRecorded, transaction }) =>
    `This payment was found after its attempt had ended unpaid: transaction ${transaction} paid us and is ${isRecorded ? "" : "to be "}recorded for the operator, who delivers or refunds it. Do not sign again before the operator has decided.`,
}
