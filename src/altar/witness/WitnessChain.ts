/** The witness chain: gapless from 1, appended under its locked head, re-hashed before any link is served. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { ChainEntry } from "../../../schema/altar/Witness.ts"
import { chainHash } from "../Hashes.ts"
import * as StoredChain from "../StoredChain.ts"
import { linkColumns, type NewStone, newStoneTypes, type Stone } from "./StoneRow.ts"

type Written = Omit<Stone, keyof StoredChain.Link>
type Entries = StoredChain.Segment<typeof ChainEntry.Type>
type Hashed = Pick<Written, "commitment" | "transaction" | "witnessedAt">

export class WitnessChain extends Context.Service<
  WitnessChain,
  {
    /** Appends stones behind the head, in order and without gaps. Runs inside the transaction that settles them. */
    readonly append: (
      stones: ReadonlyArray<NewStone>,
    ) => Effect.Effect<ReadonlyArray<Written & StoredChain.Link>, SqlError.SqlError>
    /** At most `limit` links from `from` on, with their anchor and the head; fails if a link does not verify. */
    readonly segment: (
      from: number,
      limit: number,
    ) => Effect.Effect<Entries, StoredChain.ChainBroken | SqlError.SqlError>
    /** The same segment for readers, cached while its links and the head stay the same. */
    readonly page: (from: number, limit: number) => Effect.Effect<Entries, StoredChain.ChainBroken | SqlError.SqlError>
    /** Fails at the first stone that does not follow `anchor` or does not hash. */
    readonly check: (
      stones: ReadonlyArray<Hashed & StoredChain.Link>,
      anchor: StoredChain.Head,
    ) => Effect.Effect<void, StoredChain.ChainBroken>
    /** The newest link. A known broken link is re-hashed first, and fails the read until it is repaired. */
    readonly head: Effect.Effect<StoredChain.Head, StoredChain.ChainBroken | SqlError.SqlError>
    /** SQL for the link of one stone by its UUID, as a part of another read's statement. */
    readonly linkOf: (id: string) => Statement.Fragment
  }
>()("spirit-altar/altar/witness/WitnessChain") {
  static readonly make = Effect.gen(function* () {
    const chain = yield* StoredChain.make<Hashed, Written, typeof ChainEntry.Type>({
      name: "witness stone",
      links: "witness_stones",
      head: "witness_head",
      newest: "witnessed_at",
      types: { ...newStoneTypes, witnessedAt: "text" },
      row: Schema.Struct(linkColumns),
      hashOf: ({ commitment, transaction, witnessedAt }, { previousHash, sequence }) =>
        chainHash({ previousHash, sequence, commitment, witnessedAt, transaction }),
    })

    const sql = yield* SqlClient.SqlClient

    return {
      append: Effect.fn("WitnessChain.append")((stones: ReadonlyArray<NewStone>) =>
        chain.append((witnessedAt) => Effect.succeed(stones.map((stone) => ({ ...stone, witnessedAt })))),
      ),
      segment: Effect.fn("WitnessChain.segment")(chain.segment),
      page: chain.page,
      check: chain.check,
      head: chain.current.pipe(Effect.withSpan("WitnessChain.head")),
      linkOf: (id: string) => sql`
        SELECT sequence, previous_hash, commitment, witnessed_at, transaction, chain_hash
        FROM witness_stones WHERE id = ${id}::uuid`,
    }
  })
  static readonly layer = Layer.effect(this, this.make)
}
