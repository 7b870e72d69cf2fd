/** The result of `verify_witness`: the recomputed parts of a stone, and the extent of the check. */
import { Schema } from "effect"
import { Hex64, Url, Uuid } from "../Common.ts"
import { Receipt } from "../payments/Payment.ts"
import { Refund } from "../payments/Refund.ts"
import { Commitment } from "../altar/Commitment.ts"
import { ChainHead, ListedStone } from "../altar/Witness.ts"

export const VerificationQuery = Schema.Struct({
  witnessId: Schema.optionalKey(Uuid).annotateKey({
    description: "The id of a settled stone, the last part of its permalink. Required, here or as `id`.",
  }),
  id: Schema.optionalKey(Uuid).annotateKey({ description: "The same." }),
})

/** A model reads the schema with every conversation, so the rest of a refund and of a binding stands at `/api/acts`. */
const BriefRefund = Schema.Struct({ transaction: Refund.fields.transaction })
const BriefBinding = Schema.Record(Schema.String, Schema.Json)

export const Verification = Schema.Struct({
  ok: Schema.Literal(true),
  /** Whether every check below holds. */
  verified: Schema.Boolean,
  stone: ListedStone,
  receipt: Schema.Struct({
    ...Receipt.fields,
    binding: Schema.NullOr(BriefBinding),
    refund: Schema.optionalKey(BriefRefund),
  }),
  /** When it was sealed at the latest, and who says so. */
  dated: Schema.String,
  /** The hash of the link's parts is the stone's chainHash. */
  link: Schema.Struct({ recomputed: Hex64, holds: Schema.Boolean }),
  /** The hash of the revealed words and their salt is the commitment; null while they are sealed or hidden. */
  reveal: Schema.NullOr(Schema.Struct({ recomputed: Commitment, holds: Schema.Boolean })),
  /** The payment's nonce names this purchase; null if it is random. */
  binding: Schema.NullOr(Schema.Struct({ state: Schema.Literals(["holds", "broken"]), nonce: Schema.String })),
  /** The stone's previousHash is the re-hashed link before it. */
  predecessor: Schema.Struct({ ...ChainHead.fields, holds: Schema.Boolean }),
  head: ChainHead,
  /** The log, and the URL of the stone's proof once a checkpoint covers it; null without a log. */
  log: Schema.NullOr(Schema.Struct({ origin: Schema.String, vkey: Schema.String, proof: Url })),
  proves: Schema.Array(Schema.String),
  doesNotProve: Schema.Array(Schema.String),
  checkYourself: Schema.Struct({ chain: Url, explorer: Url, wallet: Url }),
})
export type Verification = typeof Verification.Type
