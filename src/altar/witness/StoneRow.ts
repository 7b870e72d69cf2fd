/** A stone as bought, as stored and as shown. */
import { Schema } from "effect"
import { recipe } from "../../../schema/altar/Recipe.ts"
import { SpiritId, spiritOf } from "../../../schema/altar/Spirit.ts"
import {
  type ListedStone,
  revealWitnessStone,
  StoneKind,
  type WitnessBody,
  WitnessStone,
} from "../../../schema/altar/Witness.ts"
import { filled, type Paid } from "../../payments/Act.ts"
import { Whole } from "../../platform/Rows.ts"
import { part } from "../../platform/Sql.ts"
import type * as StoredChain from "../StoredChain.ts"
import { revealColumns, revealOf } from "../Reveals.ts"
import { labelledElsewhere, actText } from "../ActText.ts"
import { revealed, shownColumn } from "../Hidden.ts"

const sealedKinds: Readonly<Record<string, string>> = { hash: "a file or text", intention: "an intention" }

export const witnessing = actText(WitnessStone, {
  sentence: ({ kind, sequence, spirit }) =>
    `sealed ${sealedKinds[kind] ?? `a ${kind}`} with ${spirit}, stone ${sequence}`,
  labels: {
    ...labelledElsewhere,
    commitment: "Commitment",
    kind: "Kind",
    spirit: ["Spirit", "spirit"],
    witnessedAt: ["Witnessed", "time"],
    sequence: "Sequence",
    chainHash: "Chain hash",
    previousHash: null,
    verify: null,
  },
  hideable: {
    table: "witness_stones",
    texts: {},
  },
})

/** The columns of a link, shared by every read of stones. */
export const linkColumns = {
  sequence: Whole,
  id: Schema.String,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: Schema.String,
  payer: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
}

/** SQL types of a purchase's values; the chain adds time, place and hash. */
export const newStoneTypes = {
  id: "uuid",
  commitment: "text",
  kind: "text",
  spirit: "text",
  agentName: "text",
  payer: "text",
  transaction: "text",
} as const

export interface NewStone {
  readonly id: string
  readonly commitment: string
  readonly kind: typeof StoneKind.Type
  readonly spirit: SpiritId
  readonly agentName: string | null
  readonly payer: string
  readonly transaction: string
}

export const newStoneOf = ({ id, input, payer, transaction }: Paid<typeof WitnessBody.Type>): NewStone => ({
  id,
  commitment: input.commitment,
  kind: input.kind ?? "intention",
  spirit: input.spirit ?? spiritOf(input.commitment),
  agentName: input.agentName ?? null,
  payer,
  transaction,
})

/** A stone at its place of the chain; `witnessedAt` is RFC 3339 UTC with milliseconds. */
export interface Stone extends NewStone, StoredChain.Link {
  readonly witnessedAt: string
}

/** A stone with its reveal, as `stoneColumns` select them. */
export const StoneRow = Schema.Struct({
  ...linkColumns,
  kind: StoneKind,
  spirit: SpiritId,
  agentName: Schema.NullOr(Schema.String),
  ...revealColumns,
})
export type StoneRow = typeof StoneRow.Type

/** Stones as `s`, their reveals as `r`. */
export const stones = part`witness_stones s LEFT JOIN reveals r ON r.id = s.id`

/** The head of the chain beside a stone. */
export const headColumns = { headSequence: Whole, headHash: Schema.String }

export interface Page {
  readonly limit: number
  /** A sequence; the page holds stones below it. */
  readonly before: number | undefined
}

/** The columns of `stones`. */
export const stoneColumns = part`s.id, s.sequence, s.commitment, s.kind, s.spirit, s.witnessed_at, s.payer, s.transaction,
  s.previous_hash, s.chain_hash, ${shownColumn("s", "agent_name", "agentName")} AS agent_name, ${revealed("s")}`

const chainRecipe =
  "chainHash = lowercase hex SHA-256( previousHash 0x00 sequence 0x00 commitment 0x00 witnessedAt 0x00 transaction ) in UTF-8; previousHash of the first stone is 64 zeros"

export const recordOf = (publicUrl: string, stone: Stone): WitnessStone => ({
  id: stone.id,
  permalink: `${publicUrl}/witness/${stone.id}`,
  commitment: stone.commitment,
  kind: stone.kind,
  spirit: stone.spirit,
  witnessedAt: stone.witnessedAt,
  sequence: stone.sequence,
  chainHash: stone.chainHash,
  previousHash: stone.previousHash,
  payer: stone.payer,
  transaction: stone.transaction,
  verify: {
    recipe: `${recipe}; ${chainRecipe}`,
    revealUrl: `${publicUrl}${filled(revealWitnessStone.path, { witnessId: stone.id })}`,
  },
})

/** The record with the public side of its reveal. */
export const listedOf = (publicUrl: string, row: StoneRow): typeof ListedStone.Type => ({
  ...recordOf(publicUrl, row),
  agentName: row.agentName,
  reveal: revealOf(row),
})
