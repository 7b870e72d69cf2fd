/** A payment and its terms as the settlement of a test has them, where no node is asked. */
import type { SignedAuthorization } from "../../../src/payments/x402/verification/Eip3009.ts"
import type { Terms } from "../../../src/payments/PaymentTerms.ts"

export const hash = `0x${"1".repeat(64)}` as const
const address = `0x${"2".repeat(40)}` as const

export const authorization: SignedAuthorization = {
  asset: address,
  from: address,
  to: address,
  value: 10_000n,
  validAfter: 0n,
  validBefore: 4_000_000_000n,
  nonce: hash,
  signature: `0x${"3".repeat(130)}`,
}

export const terms: Terms = {
  network: "eip155:84532",
  asset: address,
  assetName: "USDC",
  assetVersion: "2",
  payTo: address,
  maxTimeoutSeconds: 300,
  settledBy: "a facilitator",
  isCatalogued: false,
  explorer: "https://explorer.example/{tx}",
}
