/** A payment and its terms as the settlement of a test has them, where no node is asked. */
import type { Terms } from "../../../src/payments/PaymentTerms.ts"
import { address, authorization as paid } from "../TransferLogs.ts"

export const authorization = { ...paid, validBefore: 4_000_000_000n }

export const terms: Terms = {
  network: "eip155:84532",
  asset: address("a"),
  assetName: "USDC",
  assetVersion: "2",
  payTo: address("c"),
  maxTimeoutSeconds: 300,
  settledBy: "a facilitator",
  isCatalogued: false,
  explorer: "https://explorer.example/{tx}",
}
