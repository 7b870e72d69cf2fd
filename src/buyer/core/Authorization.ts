/** The EIP-3009 authorization of an offer as typed data, and the header that carries it once signed. */
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import type { Challenge } from "./Challenge.ts"
import { randomHex } from "./Digest.ts"

const hex = (text: string): `0x${string}` => `0x${text.replace(/^0x/u, "").toLowerCase()}`

export const toBase64 = (text: string): string =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(""))

/** EIP-712 typed data for one transfer of exactly the offered amount, with a random nonce, signed at `nowMs`. */
export const typedDataOf = ({ accepts: [offer] }: Challenge, from: string, nowMs: number) => ({
  domain: {
    name: offer.extra.name,
    version: offer.extra.version,
    chainId: Number(offer.network.split(":")[1]),
    verifyingContract: hex(offer.asset),
  },
  types: transferTypes,
  primaryType: "TransferWithAuthorization" as const,
  message: {
    from: hex(from),
    to: hex(offer.payTo),
    value: BigInt(offer.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(nowMs / 1000) + offer.maxTimeoutSeconds),
    nonce: hex(randomHex(32)),
  },
})

export type AuthorizationData = ReturnType<typeof typedDataOf>

/** The content of `PAYMENT-SIGNATURE`; on the wire numbers are decimal strings. */
export const paymentHeaderOf = (challenge: Challenge, { message }: AuthorizationData, signature: string): string =>
  toBase64(
    JSON.stringify({
      x402Version: 2,
      resource: challenge.resource,
      accepted: challenge.accepts[0],
      payload: {
        signature,
        authorization: {
          ...message,
          value: String(message.value),
          validAfter: String(message.validAfter),
          validBefore: String(message.validBefore),
        },
      },
    }),
  )
