/** The unsigned typed data of one purchase, and the payment that carries the signature. */
import { randomBytes } from "node:crypto"
import type { Challenge } from "../../schema/payments/Payment.ts"
import { domainTypes, transferTypes } from "../../schema/payments/TransferTypes.ts"
import type { Kit } from "../../schema/agents/Kit.ts"

/** Stands for the address of a buyer that named none. */
const anyPayer = "<payer: the address of your wallet>"

/** Prepares an EIP-3009 transfer with a nonce of its own that expires `maxTimeoutSeconds` after `nowMs`. */
export const toSign = (
  challenge: Challenge,
  payer: string | undefined,
  nowMs: number,
): Pick<Kit, "sign" | "payment"> => {
  const { accepts, extensions, resource } = challenge
  const { bazaar } = extensions
  const [offer] = accepts
  const authorization = {
    from: payer ?? anyPayer,
    to: offer.payTo,
    value: offer.amount,
    validAfter: "0",
    validBefore: String(Math.floor(nowMs / 1000) + offer.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString("hex")}`,
  }
  return {
    sign: {
      how: `Sign with EIP-712 (eth_signTypedData_v4) as \`from\`, within ${offer.maxTimeoutSeconds} seconds. Signing alone charges nothing. Keep payment and key, and resend them after a lost answer: a second kit is a second payment.`,
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
      ...(bazaar === undefined ? {} : { extensions: { bazaar } }),
    },
  }
}
