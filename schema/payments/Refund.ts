/** Refunds as the public reads them. */
import { Schema } from "effect"
import { Address, AtomicAmount, Network, Timestamp, TransactionHash, Uuid } from "../Common.ts"

/** A `Link` (RFC 8288) to the act whose receipt shows its refund. */
export const refundLink = (act: string) => `</api/acts/${act}>; rel="related"; title="refund"`

export const refundExample = {
  transaction: "0x5d2c4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d81",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  amountAtomic: "10000",
  originalTransaction: "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
  attempt: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  recordedAt: "2026-11-21T10:17:06.341Z",
} as const

export const Refund = Schema.Struct({
  transaction: TransactionHash.annotateKey({ description: "The transfer back to the payer, in a final block." }),
  network: Network,
  asset: Address,
  payer: Address.annotateKey({ description: "The wallet that paid and got the refund." }),
  amountAtomic: AtomicAmount.annotateKey({ description: "The sum that the transaction moved to the payer." }),
  originalTransaction: TransactionHash.annotateKey({ description: "The transaction of the payment." }),
  attempt: Schema.NullOr(Uuid).annotate({
    description: "The act or the failed attempt; null for an unmatched payment.",
  }),
  recordedAt: Timestamp,
}).annotate({
  identifier: "Refund",
  description:
    "A transfer back to the payer, checked on the chain and recorded at most once for each payment and each transaction. The act and its first answer stay.",
  examples: [refundExample],
})
export type Refund = typeof Refund.Type
