/** The witness chain: gapless from 1, appended under its locked head, re-hashed before any link is served. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { ChainEntry } from "../../../schema/altar/Witness.ts"
import { chainHash } from "../Hashes.ts"
import type * as HashChain from "../HashChain.ts"
import * as StoredChain from "../StoredChain.ts"
import { linkColumns, type NewStone, newStoneTypes, type Stone } from "./StoneRow.ts"

type Written = Omit<Stone, keyof HashChain.Link>
type Hashed = Pick<Written, "commitment" | "transaction" | "witnessedAt">

export class WitnessChain extends Context.Service<
  WitnessChain,
  {
    /** Appends stones behind the head, in order; runs inside the transaction that settles them. */
    append(stones: ReadonlyArray<NewStone>): Effect.Effect<ReadonlyArray<Stone>, SqlError.SqlError>
    /** At most `limit` links from `from` on, with their anchor and the head. */
    segment(
      from: number,
      limit: number,
    ): Effect.Effect<HashChain.Segment<typeof ChainEntry.Type>, HashChain.ChainBroken | SqlError.SqlError>
    /** The same segment for readers, cached while its links and the head stay the same. */
    page(
      from: number,
      limit: number,
    ): Effect.Effect<HashChain.Segment<typeof ChainEntry.Type>, HashChain.ChainBroken | SqlError.SqlError>
    /** Fails at the first stone that does not follow `anchor` or does not hash. */
    check(
      stones: ReadonlyArray<Hashed & HashChain.Link>,
      anchor: HashChain.Head,
    ): Effect.Effect<void, HashChain.ChainBroken>
    /** The newest link, re-hashed together with the last known broken one. */
    readonly head: Effect.Effect<HashChain.Head, HashChain.ChainBroken | SqlError.SqlError>
    /** A statement for the link of one stone by its UUID, so that other reads get it in the same round trip. */
    readonly linkOf: (id: string) => Statement.Fragment
  }
>()("spirit-altar/altar/witness/WitnessChain") {
  static readonly layer = Layer.effect(
    WitnessChain,
    Effect.gen(function* () {
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

      return WitnessChain.of({
        append: Effect.fn("WitnessChain.append")((stones) =>
          chain.append((witnessedAt) => Effect.succeed(stones.map((stone) => ({ ...stone, witnessedAt })))),
        ),
        segment: Effect.fn("WitnessChain.segment")(chain.segment),
        page: chain.page,
        check: chain.check,
        head: chain.current.pipe(Effect.withSpan("WitnessChain.head")),
        linkOf: (id) => sql`
          SELECT sequence, previous_hash, commitment, witnessed_at, transaction, chain_hash
          FROM witness_stones WHERE id = ${id}::uuid`,
      })
    }),
  )
}
