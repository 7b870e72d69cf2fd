/** The witness chain: gapless from 1, appended under its locked head, re-hashed before any link of it is served. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { ChainEntry, StoneKind } from "../../../schema/altar/Witness.ts"
import type { SpiritId } from "../../../schema/altar/Spirit.ts"
import { Whole } from "../../platform/Rows.ts"
import { chainHash } from "../Hashes.ts"
import type * as HashChain from "../HashChain.ts"
import * as StoredChain from "../StoredChain.ts"

/** A stone to be appended, in the order given. */
export interface NewStone {
  readonly id: string
  readonly commitment: string
  readonly kind: typeof StoneKind.Type
  readonly spirit: SpiritId
  readonly agentName: string | null
  readonly payer: string
  readonly transaction: string
}

/** `witnessedAt` is RFC 3339 UTC with milliseconds. */
interface Written extends NewStone {
  readonly witnessedAt: string
}

type Hashed = Pick<Written, "commitment" | "transaction" | "witnessedAt">

/** A stone at its place of the chain. */
export type Stone = Written & HashChain.Link

/** The columns of a link, as every read of stones has them. */
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
        types: {
          id: "uuid",
          commitment: "text",
          kind: "text",
          spirit: "text",
          agentName: "text",
          witnessedAt: "text",
          payer: "text",
          transaction: "text",
        },
        row: Schema.Struct(linkColumns),
        hashOf: ({ commitment, transaction, witnessedAt }, { previousHash, sequence }) =>
          chainHash({ previousHash, sequence, commitment, witnessedAt, transaction }),
      })

      return WitnessChain.of({
        append: Effect.fn("WitnessChain.append")((stones) =>
          chain.append((witnessedAt) => Effect.succeed(stones.map((stone) => ({ ...stone, witnessedAt })))),
        ),
        segment: Effect.fn("WitnessChain.segment")(chain.segment),
        check: chain.check,
        head: chain.current.pipe(Effect.withSpan("WitnessChain.head")),
      })
    }),
  )
}
