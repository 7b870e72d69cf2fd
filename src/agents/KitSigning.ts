/** The unsigned typed data of one purchase, and the payment that carries the signature. */
import { hash, randomBytes } from "node:crypto"
import type { Challenge } from "../../schema/payments/Payment.ts"
import {
  bindingExtension,
  bindingSaltMinimum,
  bodyText,
  boundBytes,
  nonceOf,
} from "../../schema/payments/BindingRecipe.ts"
import { domainTypes, transferTypes } from "../../schema/payments/TransferTypes.ts"
import type { Kit } from "../../schema/agents/Kit.ts"

/** Stands for the address of a buyer that named none. */
const anyPayer = "<payer: the address of your wallet>"

/** The nonce that names a complete request, and its salt. */
const boundTo = (url: string, body: Kit["request"]["body"]) => {
  const salt = randomBytes(bindingSaltMinimum)
  const bodySha256 = hash("sha256", bodyText(body ?? {}), "hex")
  const nonce = nonceOf(hash("sha256", boundBytes({ method: "POST", url, bodySha256 }, salt), "buffer"))
  return { nonce, salt: salt.toString("base64url") }
}

/**
 * Prepares an EIP-3009 transfer that expires `maxTimeoutSeconds` after `nowMs`. Its nonce names the request, or is random
 * while `body` is incomplete, undefined.
 */
export const toSign = (
  challenge: Challenge,
  body: Kit["request"]["body"] | undefined,
  payer: string | undefined,
  nowMs: number,
): Pick<Kit, "sign" | "payment"> => {
  const { accepts, extensions, resource } = challenge
  const { bazaar } = extensions
  const [offer] = accepts
  const bound = body === undefined ? undefined : boundTo(resource.url, body)
  const authorization = {
    from: payer ?? anyPayer,
    to: offer.payTo,
    value: offer.amount,
    validAfter: "0",
    validBefore: String(Math.floor(nowMs / 1000) + offer.maxTimeoutSeconds),
    nonce: bound?.nonce ?? `0x${randomBytes(32).toString("hex")}`,
  }
  return {
    sign: {
      how: `Sign with EIP-712 (eth_signTypedData_v4) as \`from\`, within ${offer.maxTimeoutSeconds} seconds. Signing alone charges nothing. ${bound === undefined ? "" : "The nonce is derived from this request, so send the body unchanged. "}Keep payment and key, and resend them after a lost answer: a second kit is a second payment.`,
      typedData: {
        domain: {
          name: offer.extra.name,
          version: offer.extra.version,
          chainId: Number(offer.network.split(":")[1]),
          verifyingContract: offer.asset,
        },
        types: { EIP712Domain: domainTypes, ...transferTypes },
        primaryType: "TransferWithAuthorization",
        message: authorization,
      },
    },
    payment: {
      x402Version: 2,
      resource,
      accepted: offer,
      payload: { signature: "<signature>", authorization },
      extensions: {
        ...(bazaar === undefined ? {} : { bazaar }),
        ...(bound === undefined ? {} : { [bindingExtension]: { info: { version: 1, salt: bound.salt } } }),
      },
    },
  }
}
