/** Whether a payment names this request: its nonce is derived from it, by the recipe of `BindingRecipe.ts`. */
import { hash } from "node:crypto"
import { Option, Result, Schema } from "effect"
import { bindingExtension, boundBytes, isMarked, nonceOf, saltBytes } from "../../../schema/payments/BindingRecipe.ts"
import type { PaymentPayload } from "../../../schema/payments/Payment.ts"
import { inLowerCase } from "../Hex.ts"
import type { ChainPayment } from "../Payment.ts"
import type { PaymentRejected } from "../PaymentRejected.ts"
import type { Sale } from "../PaymentTerms.ts"
import { refuseMember } from "./Offer.ts"

const Extended = Schema.Struct({
  [bindingExtension]: Schema.Struct({ info: Schema.Struct({ salt: Schema.Unknown }) }),
})
const decode = Schema.decodeUnknownOption(Extended)

/** The salt as sent; undefined for a payment that is not bound. Stock clients echo the extension without a salt. */
const saltIn = ({ extensions }: PaymentPayload): unknown =>
  Option.getOrUndefined(Option.map(decode(extensions), (found) => found[bindingExtension].info.salt)) ?? undefined

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

/** The source of a derived nonce, beside the method and URL of the sale. */
export type PaymentBinding = ChainPayment["binding"]

/** Succeeds with undefined for a random nonce. Rejects a nonce that names another request. */
export const bindingOf = (
  payment: PaymentPayload,
  { bodySha256 = "", url }: Sale,
): Result.Result<PaymentBinding, PaymentRejected> => {
  const salt = saltIn(payment)
  const { nonce } = payment.payload.authorization
  if (salt === undefined) return isMarked(nonce) ? Result.fail(otherRequest) : Result.succeed(undefined)
  const bytes = typeof salt === "string" ? saltBytes(salt) : undefined
  if (typeof salt !== "string" || bytes === undefined) return Result.fail(badSalt)
  const digest = hash("sha256", boundBytes({ method: "POST", url, bodySha256 }, bytes), "buffer")
  return nonceOf(digest) === inLowerCase(nonce) ? Result.succeed({ salt, bodySha256 }) : Result.fail(otherRequest)
}
