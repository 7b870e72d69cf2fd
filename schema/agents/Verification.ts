/** The result of `verify_witness`: the recomputed parts of a stone, and the extent of the check. */
import { Schema } from "effect"
import { Count } from "../Fields.ts"
import { Hex64, Url, Uuid } from "../Common.ts"
import { Receipt } from "../payments/Payment.ts"
import { Refund } from "../payments/Refund.ts"
import { Commitment } from "../altar/Commitment.ts"
import { ChainHead, ListedStone } from "../altar/Witness.ts"

export const VerificationQuery = Schema.Struct({
  witnessId: Uuid.annotate({ description: "The id of a settled stone, the last part of its permalink." }),
})

/** A model reads the schema with every conversation, so the rest of a refund and of a binding stands at `/api/acts`. */
const BriefRefund = Schema.Struct({ transaction: Refund.fields.transaction })
const BriefBinding = Schema.Record(Schema.String, Schema.Json)

export const Verification = Schema.Struct({
  ok: Schema.Literal(true),
  verified: Schema.Boolean.annotate({ description: "Whether every check below holds." }),
  stone: ListedStone,
  receipt: Schema.Struct({
    ...Receipt.fields,
    binding: Schema.NullOr(BriefBinding),
    refund: Schema.optionalKey(BriefRefund),
  }),
  link: Schema.Struct({
    recomputed: Hex64.annotate({
      description:
        "The hash of the stone's previousHash, sequence, commitment, witnessedAt and transaction, as UTF-8 with one NUL between.",
    }),
    holds: Schema.Boolean.annotate({ description: "`recomputed` is the stone's chainHash." }),
  }),
  reveal: Schema.NullOr(
    Schema.Struct({
      recomputed: Commitment,
      holds: Schema.Boolean.annotate({
        description: "`recomputed`, the hash of `stone.reveal.salt`, NUL and `stone.reveal.text`, is the commitment.",
      }),
    }),
  ).annotate({ description: "The check of the revealed words; null while they are sealed or hidden." }),
  binding: Schema.NullOr(
    Schema.Struct({
      state: Schema.Literals(["holds", "broken"]),
      nonce: Schema.String.annotate({ description: "Of AuthorizationUsed in the transaction." }),
    }),
  ).annotate({ description: "Whether the payment's nonce names this purchase; null if it is random." }),
  predecessor: Schema.Struct({
    ...ChainHead.fields,
    holds: Schema.Boolean.annotate({ description: "The stone's previousHash is the re-hashed link before it." }),
  }),
  head: ChainHead,
  log: Schema.NullOr(
    Schema.Struct({
      origin: Schema.String,
      vkey: Schema.String.annotate({ description: "The log's verifier key; keep it, and check proofs with it." }),
      size: Count.annotate({ description: "Stones that the newest checkpoint covers." }),
      covered: Schema.Boolean.annotate({ description: "Whether the checkpoint covers this stone." }),
      proof: Schema.NullOr(Url).annotate({ description: "The URL of its `.tlog-proof`, once it is covered." }),
    }),
  ).annotate({ description: "The transparency log, or null without one." }),
  proves: Schema.Array(Schema.String),
  doesNotProve: Schema.Array(Schema.String),
  checkYourself: Schema.Struct({ chain: Url, explorer: Url }),
}).annotate({
  identifier: "Verification",
  description: "A stone with its link and its revealed words recomputed by the server.",
})
export type Verification = typeof Verification.Type
