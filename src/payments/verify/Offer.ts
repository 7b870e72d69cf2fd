/** Matches a signed payment with the offer and its time window, without the chain. */
import { maxUint256 } from "viem"
import type { PaymentPayload } from "../../../schema/payments/Payment.ts"
import { timestampOf } from "../../platform/Time.ts"
import { inLowerCase } from "../Hex.ts"
import { PaymentRejected } from "../PaymentRejected.ts"
import type { Sale, Terms } from "../PaymentTerms.ts"
import type { SignedAuthorization } from "../chain/Eip3009.ts"

/** Seconds of validity an authorization needs: one that expires during its settlement wastes our gas. */
const leastLife = 6n
/** Seconds by which clocks may differ. An authorization may live that much longer than offered. */
const clockGrace = 300n

/** The refusal of a payment that cannot have paid and never will: its wallet did not sign it. */
export const reject = (reason: string, message: string) =>
  new PaymentRejected({ reason, message: `${message} Nothing was charged.` })

/** The refusal of a payment that may have paid or may still pay: the chain was not asked, or only at one moment. */
export const refuse = (reason: string, message: string) =>
  new PaymentRejected({ reason, message: `${message} This request charged nothing.` })

const sameAddress = (a: string, b: string) => /^0x[0-9a-fA-F]{40}$/u.test(a) && inLowerCase(a) === inLowerCase(b)

/** The first mismatch between a payload and the offer, if any. */
export const mismatch = (payload: PaymentPayload, terms: Terms, sale: Sale): PaymentRejected | undefined => {
  const { accepted, payload: signed, resource } = payload
  const price = sale.amountAtomic.toString()
  if (accepted.scheme !== "exact")
    return refuse("unsupported_scheme", "accepted.scheme must be `exact`. Sign the offer in challenge.")
  if (accepted.network !== terms.network)
    return refuse("invalid_network", `accepted.network must be ${terms.network}. Sign the offer in challenge.`)
  if (!sameAddress(accepted.asset, terms.asset))
    return refuse("invalid_payment_requirements", `accepted.asset must be ${terms.asset}. Sign the offer in challenge.`)
  if (!sameAddress(accepted.payTo, terms.payTo))
    return refuse("invalid_payment_requirements", `accepted.payTo must be ${terms.payTo}. Sign the offer in challenge.`)
  if (accepted.amount !== price)
    return refuse(
      "invalid_payment_requirements",
      `accepted.amount must be ${price}, in atomic USDC. Sign the offer in challenge.`,
    )
  if (resource.url !== sale.url)
    return refuse("resource_url_mismatch", `resource.url must be ${sale.url}. Sign the offer in challenge.`)
  if (!sameAddress(signed.authorization.to, terms.payTo)) {
    return refuse(
      "invalid_exact_evm_recipient_mismatch",
      `payload.authorization.to must be ${terms.payTo}. Sign the offer in challenge.`,
    )
  }
  if (BigInt(signed.authorization.value) !== sale.amountAtomic) {
    return refuse(
      "invalid_exact_evm_payload_authorization_value_mismatch",
      `payload.authorization.value must be ${price}, in atomic USDC. Sign the offer in challenge.`,
    )
  }
  if (BigInt(signed.authorization.validAfter) > maxUint256 || BigInt(signed.authorization.validBefore) > maxUint256) {
    return refuse(
      "invalid_payload",
      "payload.authorization.validAfter and validBefore must be Unix seconds. Sign it with such times.",
    )
  }
  return undefined
}

/** Maximum seconds an authorization may live. Its attempt may hold claims for as long. */
export const longestLife = ({ maxTimeoutSeconds }: Terms) => BigInt(maxTimeoutSeconds) + clockGrace

/** The refusal of a time window that is not open, too short to settle, or longer than offered. */
export const untimely = (
  authorization: SignedAuthorization,
  terms: Terms,
  now: bigint,
): PaymentRejected | undefined => {
  const clock = `Check your clock: the server's says ${timestampOf(Number(now) * 1000)} (${now}).`
  if (authorization.validAfter > now) {
    return refuse(
      "invalid_exact_evm_payload_authorization_valid_after",
      `payload.authorization.validAfter is in the future. ${clock} Send it again after its validAfter, or sign a new one.`,
    )
  }
  if (authorization.validBefore < now + leastLife) {
    return refuse(
      "invalid_exact_evm_payload_authorization_valid_before",
      `payload.authorization.validBefore is past, or within ${leastLife} seconds. ${clock} Sign a new one.`,
    )
  }
  if (authorization.validBefore > now + longestLife(terms)) {
    return refuse(
      "invalid_exact_evm_payload_authorization_valid_before",
      `payload.authorization.validBefore is later than the ${terms.maxTimeoutSeconds} seconds of the offer allow. ${clock} Sign a shorter one.`,
    )
  }
  return undefined
}
