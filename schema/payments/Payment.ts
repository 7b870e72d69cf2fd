/** The x402 v2 messages around a paid act: challenge, signed payment, settlement, receipt. */
import { Schema } from "effect"
import { path, sentence, patterned, upTo } from "../Fields.ts"
import { Address, AtomicAmount, Network, PriceUsd, Timestamp, TransactionHash, Url } from "../Common.ts"
import { Binding, JsonSchema, RequestBindingExtension } from "./Binding.ts"
import * as example from "./Examples.ts"
import { Refund } from "./Refund.ts"
import { secondsMaximum, usdc } from "./Usdc.ts"

export { priceUsd } from "./Usdc.ts"

export const IdempotencyKey = patterned(/^[A-Za-z0-9_-]{12,128}$/u, 128, 12).annotate({
  identifier: "IdempotencyKey",
  description:
    "Identifies one purchase. A request with a payment needs it, unless the payment carries a `payment-identifier` id; a request for the price does not. Same purchase, same key: a retry with the same URL and body never pays twice. A new attempt needs a new key. Treat it as a secret until you have your answer.",
  examples: ["stone-2026-11-21-a1b2c3"],
})

/** Base64 JSON of the signed x402 v2 payment; 16 KiB at most. */
export const PaymentSignature = Schema.String.check(
  Schema.isMaxLength(16_384),
  Schema.makeFilter(() => true, { toJsonSchema: () => ({ pattern: "^[A-Za-z0-9+/]+={0,2}$" }) }),
).annotate({
  identifier: "PaymentSignature",
  description: "Base64 of the JSON x402 v2 PaymentPayload that your client signed for exactly this URL and price.",
  examples: [example.headers.signature],
})

/** One way to pay: exact amount, recipient and asset. `extra.paymentFlow` is `upfront`: settled before the work. */
export const PaymentRequirements = Schema.Struct({
  scheme: Schema.Literal("exact"),
  network: Network,
  amount: AtomicAmount,
  asset: Address,
  payTo: Address,
  maxTimeoutSeconds: upTo(secondsMaximum).annotate({
    description:
      "Seconds the authorization should live. The server refuses a `validBefore` more than 300 seconds beyond that.",
  }),
  extra: Schema.Struct({
    name: sentence("USD Coin").annotate({ description: "EIP-712 domain name of the asset." }),
    version: sentence("2").annotate({ description: "EIP-712 domain version of the asset." }),
    paymentFlow: Schema.Literal("upfront"),
  }),
}).annotate({
  identifier: "PaymentRequirements",
  description: "One x402 v2 payment offer.",
  examples: [example.requirements],
})
export type PaymentRequirements = typeof PaymentRequirements.Type

export const PaymentResource = Schema.Struct({
  url: Url,
  description: sentence("One witness stone: a timestamped sealed commitment in a public hash chain"),
  mimeType: Schema.Literal("application/json"),
}).annotate({
  identifier: "PaymentResource",
  description: "The paid resource; sign its `url` unchanged.",
  examples: [example.resource],
})

/** A compact JWS: header, payload and signature. */
export const SignedJws = patterned(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/u, 3200, 90).annotate({
  identifier: "SignedJws",
  description: "A compact JWS with EdDSA: header, payload and signature in base64url.",
  examples: [example.jws],
})

/** `payment-identifier`: a client may put its purchase's key into `info.id` of the payment. */
export const PaymentIdentifierExtension = Schema.Struct({
  info: Schema.Struct({ required: Schema.Boolean }),
  schema: JsonSchema,
}).annotate({
  identifier: "PaymentIdentifierExtension",
  description:
    "x402 extension: `info.id` of the signed payment, 16 to 128 characters of A-Z a-z 0-9 _ -, serves as the Idempotency-Key. `required`: a payment needs this id or the header. If both are sent, they must be equal.",
  examples: [example.identifier],
})

/** `bazaar`: how to call this route. */
export const BazaarExtension = Schema.Struct({
  routeTemplate: Schema.optionalKey(path("/api/witness")),
  info: Schema.Record(Schema.String, Schema.Json),
  schema: JsonSchema,
}).annotate({
  identifier: "BazaarExtension",
  description: "x402 extension: how to call this route, for catalogues of paid routes.",
})
export type BazaarExtension = typeof BazaarExtension.Type

export const ChallengeExtensions = Schema.Struct({
  "payment-identifier": PaymentIdentifierExtension,
  "request-binding": RequestBindingExtension,
  bazaar: Schema.optionalKey(BazaarExtension),
}).annotate({
  identifier: "ChallengeExtensions",
  description: "x402 extensions of this server.",
  examples: [example.challenge.extensions],
})
export type ChallengeExtensions = typeof ChallengeExtensions.Type

/** The content of `PAYMENT-REQUIRED`, also in the body of every 402. */
export const Challenge = Schema.Struct({
  x402Version: Schema.Literal(2),
  error: sentence("PAYMENT-SIGNATURE header is required"),
  resource: PaymentResource,
  accepts: Schema.Tuple([PaymentRequirements]),
  extensions: ChallengeExtensions,
}).annotate({ identifier: "Challenge", description: "The x402 v2 payment challenge.", examples: [example.challenge] })
export type Challenge = typeof Challenge.Type

const Decimal = Schema.String.check(Schema.isPattern(/^[0-9]{1,78}$/u))

/** The EIP-3009 authorization that a payer signs; numbers are decimal strings, times are Unix seconds. */
export const Authorization = Schema.Struct({
  from: Address,
  to: Address,
  value: Decimal,
  validAfter: Decimal,
  validBefore: Decimal,
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u)),
}).annotate({ identifier: "Authorization", description: "An EIP-3009 transferWithAuthorization message." })

/** The content of `PAYMENT-SIGNATURE`. Unknown members are ignored. */
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
  extensions: Schema.optionalKey(Schema.Unknown),
}).annotate({ identifier: "PaymentPayload", description: "The signed x402 v2 payment." })
export type PaymentPayload = typeof PaymentPayload.Type

/** The content of `PAYMENT-RESPONSE`. */
export const SettlementResponse = Schema.Struct({
  success: Schema.Boolean,
  errorReason: Schema.optionalKey(sentence("settlement_pending", 200)).annotateKey({
    description:
      "`settlement_pending` in a 202: the outcome is unknown, which is no failure. In a 402, the reason of the failure.",
  }),
  transaction: sentence(example.transaction, 66, /^(0x[0-9a-f]{64})?$/u).annotate({
    description: "Empty in a 202 or 402 while no transaction is known.",
  }),
  network: Network,
  payer: Address,
  extensions: Schema.optionalKey(
    Schema.Struct({
      "offer-receipt": Schema.Struct({
        info: Schema.Struct({ receipt: Schema.Struct({ format: Schema.Literal("jws"), signature: SignedJws }) }),
        schema: Schema.Record(Schema.String, Schema.Json),
      }),
    }),
  ).annotateKey({
    description:
      "`offer-receipt`: the signed receipt, a compact JWS (EdDSA) by a key of `/.well-known/did.json`. Absent without a receipt key.",
  }),
}).annotate({ identifier: "SettlementResponse", description: "The x402 v2 settlement of an act." })

/** Whether a reorganisation can still orphan the transfer's block, or did. */
export const Finality = Schema.Literals(["pending", "final", "lost"]).annotate({
  identifier: "Finality",
  description:
    "`pending` while a reorganisation could still orphan the block of the transfer, `final` after that, `lost` when it was orphaned for good; the row stays. Shown by reads only: the answer to a purchase and its replays lack it.",
  examples: ["final"],
})
export type Finality = typeof Finality.Type

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
  binding: Schema.NullOr(Binding).annotate({
    description: "Null for a payment with a random nonce, and while a text of the act is hidden.",
  }),
  finality: Schema.optionalKey(Finality),
  currentTransaction: Schema.optionalKey(
    TransactionHash.annotateKey({
      description:
        "Shown by reads only: the transaction that holds the transfer now, after a reorganisation moved it. `transaction` stays the one of the first answer and link.",
    }),
  ),
  refund: Schema.optionalKey(Refund).annotateKey({
    description: "Shown by reads only: the refund of this payment.",
  }),
}).annotate({
  identifier: "Receipt",
  description: "The on-chain settlement that paid for an act.",
  examples: [
    {
      transaction: "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
      network: "eip155:8453",
      asset: usdc["eip155:8453"].asset,
      amountAtomic: "10000",
      priceUsd: "$0.01",
      payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      settledAt: "2026-11-21T09:17:02.115Z",
      explorerUrl: "https://basescan.org/tx/0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
      binding: null,
    },
  ],
})
export type Receipt = typeof Receipt.Type

/** The proof of a card payment: nothing of it is on a chain, and nothing identifies the card's holder. */
export const CardReceipt = Schema.Struct({
  transaction: Schema.Null,
  network: Schema.Null,
  asset: Schema.Null,
  amountAtomic: AtomicAmount,
  priceUsd: PriceUsd,
  payer: Schema.Null,
  payTo: Schema.Null,
  settledAt: Timestamp,
  explorerUrl: Schema.Null,
  binding: Schema.Null,
  card: Schema.Struct({
    method: Schema.Literal("stripe"),
    reference: sentence("pi_3SWqLm2eZvKYlo2C1x7Yh3aB").annotate({
      description: "The card processor's payment intent.",
    }),
    currency: Schema.Literal("usd"),
    amountCents: patterned(/^[1-9][0-9]{0,11}$/u, 12, 1).annotate({
      description: "US cents charged.",
      examples: ["300"],
    }),
  }),
}).annotate({
  identifier: "CardReceipt",
  description: "A settlement by card: the on-chain members are null, and `card` has the charge.",
  examples: [
    {
      transaction: null,
      network: null,
      asset: null,
      amountAtomic: "3000000",
      priceUsd: "$3.00",
      payer: null,
      payTo: null,
      settledAt: "2026-11-21T09:17:02.115Z",
      explorerUrl: null,
      binding: null,
      card: { method: "stripe", reference: "pi_3SWqLm2eZvKYlo2C1x7Yh3aB", currency: "usd", amountCents: "300" },
    },
  ],
})

/** The receipt of an act that may be paid either way. */
export const AnyReceipt = Schema.Union([Receipt, CardReceipt]).annotate({
  identifier: "AnyReceipt",
  description: "The settlement that paid for an act, on chain or by card.",
})
export type AnyReceipt = typeof AnyReceipt.Type
