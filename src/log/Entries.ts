/** The entries of the log: the texts that the chain of stones hashes. The settling transaction gives each its position. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Bytes } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { Whole } from "../platform/Rows.ts"

export interface Entry {
  /** From 1. The index of its leaf is one less. */
  readonly sequence: number
  readonly bytes: Bytes
}

/** A row of `find`. An entry without a position is in no tree yet. */
export const foundColumns = { sequence: Schema.NullOr(Whole), parts: Schema.Array(Schema.String) }

export interface Found {
  readonly sequence: number
  readonly parts: ReadonlyArray<string>
}

export class Entries extends Context.Service<Entries>()("spirit-altar/log/Entries", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const chain = yield* WitnessChain

    /** At most `limit` entries from `from` on, without a gap, and the number of all. */
    const segment = Effect.fnUntraced(function* (from: number, limit: number) {
      const { head, links } = yield* chain.segment(from, limit)
      const entries = links.map((link): Entry => ({ sequence: link.sequence, bytes: entryOf(link) }))
      return { entries, count: head.sequence }
    })

    /** A statement for the row of an entry by its UUID, so that a proof needs one round trip. */
    const find = (id: string) => sql`
      SELECT sequence, ARRAY[previous_hash, commitment, witnessed_at, transaction, chain_hash] AS parts
      FROM (${chain.linkOf(id)}) l`

    /** The checked bytes of a found entry. */
    const read = Effect.fnUntraced(function* ({ parts, sequence }: Found) {
      const [previousHash = "", commitment = "", witnessedAt = "", transaction = "", chainHash = ""] = parts
      const link = { previousHash, sequence, commitment, witnessedAt, transaction }
      // A single stone proves its own link.
      yield* chain.check([{ ...link, chainHash }], { sequence: sequence - 1, chainHash: previousHash })
      return entryOf(link)
    })

    return { segment, find, read }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
