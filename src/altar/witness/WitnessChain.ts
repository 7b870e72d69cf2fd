/** The witness chain: gapless from 1, appended under its locked head, re-hashed before any link of it is served. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
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
    /** Appends stones behind the head, in order; to be called inside the transaction that settles them. */
    append(stones: ReadonlyArray<NewStone>): Effect.Effect<ReadonlyArray<Stone>, SqlError.SqlError>
    /** At most `limit` links from `from` on, with what precedes and what follows them. */
    segment(
      from: number,
      limit: number,
    ): Effect.Effect<HashChain.Segment<typeof ChainEntry.Type>, HashChain.ChainBroken>
    /** The same for readers, who ask for the same links again and again: kept as long as links and head are the same. */
    page(from: number, limit: number): Effect.Effect<HashChain.Segment<typeof ChainEntry.Type>, HashChain.ChainBroken>
    /** Fails at the first of these stones that does not follow `anchor` or does not hash. */
    check(
      stones: ReadonlyArray<Hashed & HashChain.Link>,
      anchor: HashChain.Head,
    ): Effect.Effect<void, HashChain.ChainBroken>
    /** The newest link, re-hashed together with the last one that was found broken. */
    readonly head: Effect.Effect<HashChain.Head, HashChain.ChainBroken>
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

      return WitnessChain.of({
        append: Effect.fn("WitnessChain.append")((stones) =>
          chain.append((witnessedAt) => Effect.succeed(stones.map((stone) => ({ ...stone, witnessedAt })))),
        ),
        segment: Effect.fn("WitnessChain.segment")(chain.segment),
        page: chain.page,
        check: chain.check,
        head: chain.current.pipe(Effect.withSpan("WitnessChain.head")),
      })
    }),
  )
}
