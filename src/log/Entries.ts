/** The entries of a log in their order. */
import { Context, type Effect, Schema } from "effect"
import type { SqlError, Statement } from "effect/sql"
import type { Bytes } from "../../schema/log/Bytes.ts"
import type { ChainBroken } from "../altar/HashChain.ts"
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

export class Entries extends Context.Service<
  Entries,
  {
    /** At most `limit` entries from `from` on, without a gap, and the number of all. */
    segment(
      from: number,
      limit: number,
    ): Effect.Effect<
      { readonly entries: ReadonlyArray<Entry>; readonly count: number },
      ChainBroken | SqlError.SqlError
    >
    /** A statement for the row of an entry by its UUID, so that a proof needs one round trip. */
    readonly find: (id: string) => Statement.Fragment
    /** The checked bytes of a found entry. */
    read(found: Found): Effect.Effect<Bytes, ChainBroken>
  }
>()("spirit-altar/log/Entries") {}
