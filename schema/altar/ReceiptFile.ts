/** The receipt file of an act: all that a reader needs to check it offline, for ever. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Url, Uuid } from "../Common.ts"
import type { Group } from "../Group.ts"
import { StoneProof } from "../log/LogApi.ts"
import { ActName, ActNotFound } from "../payments/Act.ts"
import { Binding } from "../payments/Binding.ts"
import { SignedJws } from "../payments/Payment.ts"
import { Refund } from "../payments/Refund.ts"
import { at, envelope } from "../Refusal.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { AltarRequests, described, Unknown } from "./Requests.ts"
import { StoneDate } from "./StoneDate.ts"
import { stoneExample } from "./Witness.ts"
import { Reveal, RevealBroken } from "./Reveal.ts"

/** The first member of a receipt file; another text is another format. */
export const receiptFormat = "spirit-altar-receipt/v1"

export const ReceiptFile = Schema.Struct({
  format: Schema.Literal(receiptFormat),
  act: ActName,
  permalink: Url,
  receipt: SignedJws.annotateKey({ description: "The signed receipt, a compact JWS, as the first answer carried it." }),
  record: Schema.NullOr(Schema.Record(Schema.String, Schema.Json)).annotate({
    examples: [stoneExample],
    description:
      "The record, whose canonical JSON (RFC 8785) hashes to `delivered.record` of the receipt. Null where the file was passed on without it.",
  }),
  reveal: Schema.NullOr(Reveal),
  binding: Schema.NullOr(Binding).annotate({ examples: [null] }),
  body: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)).annotateKey({
    description: "The body of the purchase, whose canonical JSON hashes to `binding.bodySha256`.",
  }),
  log: Schema.optionalKey(StoneProof).annotateKey({ description: "Of a stone, once a checkpoint covers it." }),
  /** Of a stone. Not signed: `verify --rpc` reads the block. */
  dated: Schema.optionalKey(StoneDate),
  refund: Schema.optionalKey(Refund).annotateKey({ description: "Not signed: check its transaction on the chain." }),
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

const file = {
  params: { actId: Uuid },
  success: ReceiptFile,
  error: [ActNotFound, ReceiptUnsigned, ReceiptHidden, RevealBroken, BrokenChain] as const,
}

const says =
  "The signed receipt, the record, revealed words with their salt, and the existing proofs, to check offline."

export const readActReceipt = HttpApiEndpoint.get("readActReceipt", "/acts/:actId.receipt.json", file)
  .annotateMerge(described("The receipt file of an act", says))
  .annotate(Unknown, () => new ActNotFound({}))

export const readStoneReceipt = HttpApiEndpoint.get("readStoneReceipt", "/witness/:actId.receipt.json", file)
  .annotateMerge(described("The receipt file of a stone", says))
  .annotate(Unknown, () => new ActNotFound({}))

export const ReceiptsGroup: Group<"receipts", typeof readActReceipt | typeof readStoneReceipt, AltarRequests> =
  HttpApiGroup.make("receipts")
    .add(readActReceipt, readStoneReceipt)
    .middleware(AltarRequests)
    .annotateMerge(
      OpenApi.annotations({ title: "Receipts", description: "Receipt files, checked without this server." }),
    )
