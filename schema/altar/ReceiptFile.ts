/** The receipt file of an act: all that a reader needs to check it offline, for ever. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { patterned, sentence } from "../Fields.ts"
import { Timestamp, Url, Uuid } from "../Common.ts"
import type { Group } from "../Group.ts"
import { ActProof, VerifierKeyText, StoneProof } from "../log/LogApi.ts"
import { ActName, ActNotFound } from "../payments/Act.ts"
import { receiptFormat, statementPurpose } from "../payments/KeyStatement.ts"
import * as example from "../payments/Examples.ts"
import { SignedJws } from "../payments/Payment.ts"
import { Refund } from "../payments/Refund.ts"
import { at, envelope } from "../Refusal.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { AltarRequests, described, Unknown } from "./Requests.ts"
import { Reveal, RevealBroken } from "./Reveal.ts"
import { ChainEntry } from "./Witness.ts"

const Did = sentence("did:web:altar.example", 300)
const KeyUrl = sentence("did:web:altar.example#receipts-2026-11", 400)

export const KeyStatement = Schema.Struct({
  purpose: Schema.Literal(statementPurpose),
  did: Did,
  kid: KeyUrl.annotate({ description: "The DID URL of the key, as the JWS names it." }),
  jwk: Schema.Struct({
    kty: Schema.Literal("OKP"),
    crv: Schema.Literal("Ed25519"),
    x: patterned(/^[A-Za-z0-9_-]{43}$/u, 43).annotate({
      description: "The 32 bytes of the key in base64url.",
      examples: ["6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw"],
    }),
  }),
  payTo: patterned(/^eip155:[0-9]{1,12}:0x[0-9a-fA-F]{40}$/u, 62, 51).annotate({
    description: "The paid account, which signed this statement (CAIP-10).",
    examples: ["eip155:8453:0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"],
  }),
  log: Schema.NullOr(VerifierKeyText).annotate({ description: "The verifier key of the log that holds the stone." }),
  notBefore: Timestamp.annotate({ description: "The key signs no receipt that was issued earlier." }),
  replaces: Schema.NullOr(KeyUrl).annotate({ description: "The previous key, if any." }),
}).annotate({
  identifier: "KeyStatement",
  description: "The receiving account states that a receipt key may sign for this host from this time on.",
})

export const SignedStatement = Schema.Struct({
  statement: KeyStatement,
  signature: patterned(/^0x([0-9a-f]{2})+$/u, 4098, 4).annotate({
    description: "EIP-712, by `payTo`; of a contract (EIP-1271) with `type` `contract`.",
    examples: [example.statementSignature],
  }),
  type: Schema.Literals(["key", "contract"]),
})
export type SignedStatement = typeof SignedStatement.Type

export const KeyAuthorization = Schema.Struct({
  ...SignedStatement.fields,
  stone: ChainEntry.annotateKey({
    description: "The stone whose commitment is SHA-256 of the canonical JSON of the three members above.",
  }),
  proof: StoneProof,
}).annotate({
  identifier: "KeyAuthorization",
  description: "Why the key may sign: a statement signed by the paid account, and its stone in the log.",
})
export type KeyAuthorization = typeof KeyAuthorization.Type

export const ReceiptFile = Schema.Struct({
  format: Schema.Literal(receiptFormat),
  act: ActName,
  permalink: Url,
  receipt: SignedJws.annotateKey({ description: "The signed receipt, a compact JWS, as the first answer carried it." }),
  record: Schema.NullOr(Schema.Record(Schema.String, Schema.Json)).annotate({
    description:
      "The record, whose canonical JSON (RFC 8785) hashes to `delivered.record` of the receipt. Null where the file was passed on without it.",
  }),
  reveal: Schema.NullOr(Reveal),
  log: Schema.optionalKey(StoneProof).annotateKey({ description: "Of a stone, once a checkpoint covers it." }),
  actLog: Schema.optionalKey(ActProof).annotateKey({
    description: "In the log over all acts, once a checkpoint covers the act.",
  }),
  refund: Schema.optionalKey(Refund).annotateKey({ description: "Not signed: check its transaction on the chain." }),
  authorization: Schema.optionalKey(KeyAuthorization).annotateKey({
    description: "Of the key that signed the receipt, where its operator published one.",
  }),
}).annotate({
  identifier: "ReceiptFile",
  description:
    "The receipt file of an act. `spirit-altar verify --receipt FILE` and the act's page check it without this server.",
})
export type ReceiptFile = typeof ReceiptFile.Type

export class ReceiptUnsigned extends Schema.Error<ReceiptUnsigned>("ReceiptUnsigned")(
  envelope(
    "receipt_unsigned",
    "This act has no signed receipt: it was paid by card, or before this server had a receipt key.",
    "Use the record at its permalink. Do not pay again.",
  ),
  at(404, "The act has no signed receipt."),
) {}

export class ReceiptHidden extends Schema.Error<ReceiptHidden>("ReceiptHidden")(
  envelope(
    "receipt_hidden",
    "An operator hid a text of this act, and its receipt would confirm guesses of that text, so it is not public.",
    "Use the receipt that the buyer got in PAYMENT-RESPONSE. Do not pay again.",
  ),
  at(404, "An operator hid a text of the act."),
) {}

const error = [ActNotFound, ReceiptUnsigned, ReceiptHidden, RevealBroken, BrokenChain] as const

const says =
  "One file with the signed receipt, the record, revealed words with their salt, and the existing proofs. It is beside the permalink, and can be checked offline."

export const readActReceipt = HttpApiEndpoint.get("readActReceipt", "/acts/:actId.receipt.json", {
  params: { actId: Uuid },
  success: ReceiptFile,
  error,
})
  .annotateMerge(described("The receipt file of an act", says))
  .annotate(Unknown, () => new ActNotFound({}))

export const readStoneReceipt = HttpApiEndpoint.get("readStoneReceipt", "/witness/:actId.receipt.json", {
  params: { actId: Uuid },
  success: ReceiptFile,
  error,
})
  .annotateMerge(described("The receipt file of a stone", says))
  .annotate(Unknown, () => new ActNotFound({}))

const receiptsGroup: Group<"receipts", typeof readActReceipt | typeof readStoneReceipt, AltarRequests> =
  HttpApiGroup.make("receipts")
    .add(readActReceipt, readStoneReceipt)
    .middleware(AltarRequests)
    .annotateMerge(
      OpenApi.annotations({ title: "Receipts", description: "Receipt files, checked without this server." }),
    )

export class ReceiptsGroup extends receiptsGroup {}
