/** Refunds as the public reads them. */
import { Schema } from "effect"
import { listOf, sentence } from "../Fields.ts"
import { Address, AtomicAmount, Network, Timestamp, TransactionHash, Uuid } from "../Common.ts"

const example = {
  id: "7a1d2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  state: "REFUNDED",
  reason: "failed",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  amountAtomic: "10000",
  originalAtomic: "10000",
  attempt: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  originalTransaction: "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
  refundTransaction: "0x5d2c4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d81",
  finality: "final",
  intendedAt: "2026-11-21T10:17:02.115Z",
  refundedAt: "2026-11-21T10:17:06.341Z",
  signature: null,
} as const

/** A `Link` (RFC 8288) to the refunds of a transaction. */
export const refundLink = (transaction: string) => `</api/refunds/${transaction}>; rel="related"; title="refund"`

export const Refund = Schema.Struct({
  id: Uuid,
  state: Schema.Literals(["REFUND_PENDING", "REFUNDED", "PARTIALLY_REFUNDED", "REFUND_FAILED"]).annotate({
    description:
      "A state of x402-signals. A refund has failed when it is no longer possible, such as to a blocked wallet, or when its block was orphaned for good. It is never sent to another wallet.",
  }),
  reason: Schema.Literals(["unmatched", "failed", "lost", "settled"]).annotate({
    description:
      "Why it was refunded: the payment bought nothing, its attempt had failed, its act was marked lost, or the operator returned the payment of a settled act.",
  }),
  network: Network,
  asset: Address,
  payer: Address.annotate({ description: "The wallet that paid and gets the refund." }),
  payTo: Address.annotate({ description: "The wallet that was paid, which refunds." }),
  amountAtomic: AtomicAmount,
  originalAtomic: AtomicAmount.annotate({ description: "The amount of the payment." }),
  attempt: Schema.NullOr(Uuid).annotate({
    description: "The act or the failed attempt; null for an unmatched payment.",
  }),
  originalTransaction: TransactionHash,
  refundTransaction: Schema.NullOr(TransactionHash).annotate({ description: "Null until a transfer is found." }),
  finality: Schema.NullOr(Schema.Literals(["pending", "final", "lost"])).annotate({
    description: "Whether the refund's block can still be orphaned, or was; null until a transfer is found.",
  }),
  intendedAt: Timestamp,
  refundedAt: Schema.NullOr(Timestamp),
  signature: Schema.NullOr(sentence("eyJhbGciOiJFZERTQSJ9.e30.c2ln", 4096)).annotate({
    description:
      "The signed refund record, a compact JWS (EdDSA) of type `x402-refund+jws` by a key of `/.well-known/did.json`; null without a receipt key.",
  }),
}).annotate({
  identifier: "Refund",
  description: "A transfer back to the payer, at most one for each payment.",
  examples: [example],
})
export type Refund = typeof Refund.Type

export const RefundList = Schema.Struct({ ok: Schema.Literal(true), refunds: listOf(Refund, 100) }).annotate({
  identifier: "RefundList",
  description: "The refunds that a transaction made, and those of the payments that it made.",
  examples: [{ ok: true, refunds: [example] }],
})
