/** Matches a signed payment with the offer and its time window, without the chain. */
import { maxUint256 } from "viem"
import type { PaymentPayload } from "../../../../schema/payments/Payment.ts"
import { timestampOf } from "../../../platform/Time.ts"
import { inLowerCase, type SignedAuthorization } from "../chain/Eip3009.ts"
import { type ChainPayment, type PaymentRejected, refuseMember } from "../../Payment.ts"
import type { Offer, Terms } from "../../PaymentTerms.ts"
import { hash } from "node:crypto"
import { Option, Result, Schema } from "effect"
import {
  bindingExtension,
  boundBytes,
  type BoundRequest,
  isMarked,
  nonceOf,
  saltBytes,
} from "../../../../schema/payments/BindingRecipe.ts"

/** Seconds of validity an authorization needs: one that expires during its settlement wastes our gas. */
const leastLife = 6n
/** Seconds by which clocks may differ. An authorization may live that much longer than offered. */
const clockGrace = 300n

const sameAddress = (a: string, b: string) => /^0x[0-9a-fA-F]{40}$/u.test(a) && inLowerCase(a) === inLowerCase(b)

const unlike = (reason: string, member: string, offered: string) =>
  refuseMember(reason, member, `must be ${offered}. Sign the offer in challenge.`)

/** The first mismatch between a payload and the offer, if any. */
export const mismatch = (payload: PaymentPayload, terms: Terms, offer: Offer): PaymentRejected | undefined => {
  const { accepted, payload: signed, resource } = payload
  const { authorization } = signed
  const price = `${offer.amountAtomic}, in atomic USDC`
  const requirements = "invalid_payment_requirements"
  if (accepted.scheme !== "exact") return unlike("unsupported_scheme", "accepted.scheme", "`exact`")
  if (accepted.network !== terms.network) return unlike("invalid_network", "accepted.network", terms.network)
  if (!sameAddress(accepted.asset, terms.asset)) return unlike(requirements, "accepted.asset", terms.asset)
  if (!sameAddress(accepted.payTo, terms.payTo)) return unlike(requirements, "accepted.payTo", terms.payTo)
  if (accepted.amount !== offer.amountAtomic.toString()) return unlike(requirements, "accepted.amount", price)
  if (resource.url !== offer.url) return unlike("resource_url_mismatch", "resource.url", offer.url)
  if (!sameAddress(authorization.to, terms.payTo))
    return unlike("invalid_exact_evm_recipient_mismatch", "payload.authorization.to", terms.payTo)
  if (BigInt(authorization.value) !== offer.amountAtomic)
    return unlike("invalid_exact_evm_payload_authorization_value_mismatch", "payload.authorization.value", price)
  const time = (["validAfter", "validBefore"] as const).find((member) => BigInt(authorization[member]) > maxUint256)
  return time === undefined
    ? undefined
    : refuseMember("invalid_payload", `payload.authorization.${time}`, "must be Unix seconds. Sign such a time.")
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
    return refuseMember(
      "invalid_exact_evm_payload_authorization_valid_after",
      "payload.authorization.validAfter",
      `is in the future. ${clock} Send it again after its validAfter, or sign a new one.`,
    )
  }
  if (authorization.validBefore < now + leastLife) {
    return refuseMember(
      "invalid_exact_evm_payload_authorization_valid_before",
      "payload.authorization.validBefore",
      `is past, or within ${leastLife} seconds. ${clock} Sign a new one.`,
    )
  }
  if (authorization.validBefore > now + longestLife(terms)) {
    return refuseMember(
      "invalid_exact_evm_payload_authorization_valid_before",
      "payload.authorization.validBefore",
      `is later than the ${terms.maxTimeoutSeconds} seconds of the offer allow. ${clock} Sign a shorter one.`,
    )
  }
  return undefined
}

const Extended = Schema.Struct({
  [bindingExtension]: Schema.Struct({ info: Schema.Struct({ salt: Schema.Unknown }) }),
})
const decode = Schema.decodeUnknownOption(Extended)

/** The salt as sent; undefined for a payment that is not bound. Stock clients echo the extension without a salt. */
const saltIn = ({ extensions }: PaymentPayload): unknown =>
  Option.getOrUndefined(Option.map(decode(extensions), (extended) => extended[bindingExtension].info.salt)) ?? undefined

const otherRequest = refuseMember(
  "invalid_payload",
  "payload.authorization.nonce",
  "is not the one of this request: derive it from this method, URL and body, and the salt of extensions.request-binding.info. Sign again for this request, or with a random nonce.",
)

const badSalt = refuseMember(
  "invalid_payload",
  "extensions.request-binding.info.salt",
  "must be 16 to 32 bytes in base64url without padding.",
)

/** The source of a derived nonce, beside the method and URL of the offer. */
export type PaymentBinding = ChainPayment["binding"]

/** The nonce that names a request. */
export const boundNonce = (request: BoundRequest, salt: Uint8Array) =>
  nonceOf(hash("sha256", boundBytes(request, salt), "buffer"))

/** Succeeds with undefined for a random nonce. Rejects a nonce that names another request. */
export const bindingOf = (
  payment: PaymentPayload,
  { bodySha256 = "", url }: Offer,
): Result.Result<PaymentBinding, PaymentRejected> => {
  const salt = saltIn(payment)
  const { nonce } = payment.payload.authorization
  if (salt === undefined) return isMarked(nonce) ? Result.fail(otherRequest) : Result.succeed(undefined)
  const bytes = typeof salt === "string" ? saltBytes(salt) : undefined
  if (typeof salt !== "string" || bytes === undefined) return Result.fail(badSalt)
  return boundNonce({ method: "POST", url, bodySha256 }, bytes) === inLowerCase(nonce)
    ? Result.succeed({ salt, bodySha256 })
    : Result.fail(otherRequest)
}
