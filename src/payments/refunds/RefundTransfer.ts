/** The transfer of a refund as EIP-712 typed data, with the nonce that lets the token pay it once. */
import { createHash } from "node:crypto"
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { domainTypes, transferTypes } from "../../../schema/payments/TransferTypes.ts"
import type { Terms } from "../PaymentTerms.ts"
import { chainIdOf } from "../x402/verification/Eip3009.ts"

/** A payment has one refund. A further part would need a nonce of its own. */
const part = "1"

/**
 * `payment` is the claim of the payment. The same payment has the same nonce for ever: for each amount, on each host and
 * in each database. Nonces belong to the wallet that signs.
 */
export const refundNonce = (network: string, payment: string): Hex =>
  `0x${createHash("sha256").update(["spirit-altar/refund/v1", network, payment, part].join("\0")).digest("hex")}`

export interface Transfer {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

export const typedData = ({ asset, assetName, assetVersion, network }: Terms, message: Transfer) =>
  ({
    domain: { name: assetName, version: assetVersion, chainId: chainIdOf(network), verifyingContract: asset },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message,
  }) as const

/** The same as JSON for `eth_signTypedData_v4`: numbers as decimal text, with the domain's own type. */
export const typedDataText = (terms: Terms, message: Transfer) => {
  const data = typedData(terms, message)
  return JSON.stringify(
    { ...data, types: { EIP712Domain: domainTypes, ...data.types } },
    (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value),
    2,
  )
}
