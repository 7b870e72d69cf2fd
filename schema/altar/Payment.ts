/** What x402 v2 puts on the wire around a paid act: challenge, signed payment, settlement, receipt. */
import { Schema } from "effect"
import { Address, AtomicAmount, Network, PriceUsd, Timestamp, TransactionHash, Url } from "./Common.ts"

export const IdempotencyKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{12,128}$/u)).annotate({
  identifier: "IdempotencyKey",
  description:
    "Names one purchase. Same purchase, same key: a retry with the same URL and body never pays twice. A new attempt needs a new key. Treat it as a secret until you have your answer.",
  examples: ["stone-2026-11-21-a1b2c3"],
})

/** Base64 JSON of the signed x402 v2 payment; 16 KiB at most. */
export const PaymentSignature = Schema.String.check(Schema.isMaxLength(16_384)).annotate({
  identifier: "PaymentSignature",
  description: "Base64 of the JSON x402 v2 PaymentPayload that your client signed for exactly this URL and price.",
  examples: ["eyJ4NDAyVmVyc2lvbiI6Mn0="],
})

/** One way to pay: exact amount, recipient and asset. `extra.paymentFlow` is `upfront`: settled before the work. */
export const PaymentRequirements = Schema.Struct({
  scheme: Schema.Literal("exact"),
  network: Network,
  amount: AtomicAmount,
  asset: Address,
  payTo: Address,
  maxTimeoutSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 })),
  extra: Schema.Struct({
    name: Schema.String.annotate({ description: "EIP-712 domain name of the asset." }),
    version: Schema.String.annotate({ description: "EIP-712 domain version of the asset." }),
    paymentFlow: Schema.Literal("upfront"),
  }),
}).annotate({
  identifier: "PaymentRequirements",
  description: "One x402 v2 payment offer.",
  examples: [
    {
      scheme: "exact",
      network: "eip155:8453",
      amount: "10000",
      asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      maxTimeoutSeconds: 300,
      extra: { name: "USD Coin", version: "2", paymentFlow: "upfront" },
    },
  ],
})
export type PaymentRequirements = typeof PaymentRequirements.Type

export const PaymentResource = Schema.Struct({
  url: Url,
  description: Schema.String,
  mimeType: Schema.Literal("application/json"),
}).annotate({ identifier: "PaymentResource", description: "What is being paid for; `url` must be signed unchanged." })

/** The content of `PAYMENT-REQUIRED`, also readable in the body of every 402. */
export const Challenge = Schema.Struct({
  x402Version: Schema.Literal(2),
  error: Schema.String,
  resource: PaymentResource,
  accepts: Schema.Tuple([PaymentRequirements]),
}).annotate({ identifier: "Challenge", description: "The x402 v2 payment challenge." })
export type Challenge = typeof Challenge.Type

const Decimal = Schema.String.check(Schema.isPattern(/^[0-9]{1,78}$/u))

/** The EIP-3009 authorization a payer signs; all numbers are decimal strings, times are Unix seconds. */
export const Authorization = Schema.Struct({
  from: Address,
  to: Address,
  value: Decimal,
  validAfter: Decimal,
  validBefore: Decimal,
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u)),
}).annotate({ identifier: "Authorization", description: "An EIP-3009 transferWithAuthorization message." })

/** The content of `PAYMENT-SIGNATURE`. Unknown members are ignored: clients may add. */
export const PaymentPayload = Schema.Struct({
  x402Version: Schema.Literal(2),
  resource: Schema.Struct({ url: Schema.String }),
  accepted: Schema.Struct({
    scheme: Schema.String,
    network: Schema.String,
    amount: Schema.String,
    asset: Schema.String,
    payTo: Schema.String,
  }),
  payload: Schema.Struct({
    signature: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/u)),
    authorization: Authorization,
  }),
}).annotate({ identifier: "PaymentPayload", description: "The signed x402 v2 payment." })
export type PaymentPayload = typeof PaymentPayload.Type

/** The content of `PAYMENT-RESPONSE`. */
export const SettlementResponse = Schema.Struct({
  success: Schema.Boolean,
  transaction: Schema.String,
  network: Network,
  payer: Address,
}).annotate({ identifier: "SettlementResponse", description: "The x402 v2 settlement of an act." })

/** The public proof of payment of an act. */
export const Receipt = Schema.Struct({
  transaction: TransactionHash,
  network: Network,
  asset: Address,
  amountAtomic: AtomicAmount,
  priceUsd: PriceUsd,
  payer: Address,
  payTo: Address,
  settledAt: Timestamp,
  explorerUrl: Url,
}).annotate({
  identifier: "Receipt",
  description: "The on-chain settlement that paid for an act.",
  examples: [
    {
      transaction: "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
      network: "eip155:8453",
      asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      amountAtomic: "10000",
      priceUsd: "$0.01",
      payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      settledAt: "2026-11-21T09:17:02.115Z",
      explorerUrl: "https://basescan.org/tx/0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
    },
  ],
})
export type Receipt = typeof Receipt.Type

/** Dollars with two decimals of an atomic amount, `$0.01` for `10000n`. */
export const priceUsd = (amountAtomic: bigint): string => {
  const cents = amountAtomic / 10_000n
  return `$${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`
}
