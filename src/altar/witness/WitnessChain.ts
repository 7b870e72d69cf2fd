/** The witness chain: gapless from 1, appended under its locked head, re-hashed before any link of it is served. */
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { ChainEntry } from "../../../schema/altar/Witness.ts"
import { timestampOf } from "../../platform/Time.ts"
import { chainHash } from "../Hashes.ts"
import * as HashChain from "../HashChain.ts"

/** A stone to be appended, in the order given. */
export interface NewStone {
  readonly id: string
  readonly commitment: string
  readonly kind: string
  readonly spirit: string
  readonly agentName: string | null
  readonly payer: string
  readonly transaction: string
}

export interface Stone extends NewStone {
  readonly sequence: number
  /** RFC 3339 UTC with milliseconds. */
  readonly witnessedAt: string
  readonly previousHash: string
  readonly chainHash: string
}

export interface StoneRow extends NewStone {
  readonly sequence: bigint
  readonly witnessedAt: string
  readonly previousHash: string
  readonly chainHash: string
}

export const stoneOf = (row: StoneRow): Stone => ({ ...row, sequence: Number(row.sequence) })

export class WitnessChain extends Context.Service<
  WitnessChain,
  {
    /** Appends stones behind the head, in order; to be called inside the transaction that settles them. */
    append(stones: ReadonlyArray<NewStone>): Effect.Effect<ReadonlyArray<Stone>, SqlError.SqlError>
    /** At most `limit` links from `from` on, with what precedes and what follows them. */
    segment(
      from: number,
      limit: number,
    ): Effect.Effect<HashChain.Segment<typeof ChainEntry.Type>, SqlError.SqlError | HashChain.ChainBroken>
    /** Fails at the first of these stones that does not follow `anchor` or does not hash. */
    check(stones: ReadonlyArray<Stone>, anchor: HashChain.Head): Effect.Effect<void, HashChain.ChainBroken>
    /** The newest link, re-hashed together with the last one that was found broken. */
    readonly head: Effect.Effect<HashChain.Head, SqlError.SqlError | HashChain.ChainBroken>
  }
>()("spirit-altar/altar/witness/WitnessChain") {
  static readonly layer = Layer.effect(
    WitnessChain,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Segments are long and read most: their columns are named in SQL rather than respelled in each row.
      const asNamed = sql.withoutTransforms()
      const chain = yield* HashChain.make<Stone>("witness stone", chainHash)

      const append = Effect.fn("WitnessChain.append")(function* (stones: ReadonlyArray<NewStone>) {
        const heads = yield* sql<{ sequence: bigint; chainHash: string; witnessedAt: Date; now: Date }>`
          SELECT sequence, chain_hash, witnessed_at, clock_timestamp() AS now FROM witness_head WHERE id = 1 FOR UPDATE`
        const head = heads[0]
        if (head === undefined) return yield* Effect.die("the witness chain has no head")
        // The one clock that all servers share: a wrong one of theirs does not move the chain, whose time never runs back.
        const witnessedAt = timestampOf(Math.max(head.now.getTime(), head.witnessedAt.getTime()))

        let sequence = Number(head.sequence)
        let previousHash = head.chainHash
        const appended = stones.map((stone): Stone => {
          sequence += 1
          const link = { ...stone, sequence, previousHash, witnessedAt }
          previousHash = chainHash(link)
          return { ...link, chainHash: previousHash }
        })

        yield* sql`
          WITH stones AS (
            INSERT INTO witness_stones (sequence, id, commitment, kind, spirit, agent_name, witnessed_at, payer,
              transaction, previous_hash, chain_hash)
            SELECT sequence, id, commitment, kind, spirit, "agentName", "witnessedAt", payer, transaction,
              "previousHash", "chainHash"
            FROM json_to_recordset(${JSON.stringify(appended)}::json) AS r(sequence bigint, id uuid, commitment text,
              kind text, spirit text, "agentName" text, "witnessedAt" text, payer text, transaction text,
              "previousHash" text, "chainHash" text)
          )
          UPDATE witness_head SET sequence = ${sequence}::bigint, chain_hash = ${previousHash},
            witnessed_at = ${witnessedAt}::timestamptz WHERE id = 1`
        return appended
      })

      /** The links of a range, the one before it, and the head: one round trip. */
      const segmentOf = Effect.fnUntraced(function* (from: number, limit: number) {
        const rows = yield* asNamed<StoneRow & { headSequence: bigint; headHash: string }>`
          SELECT h.sequence AS "headSequence", h.chain_hash AS "headHash", s.sequence, s.id, s.commitment,
            s.witnessed_at AS "witnessedAt", s.transaction, s.payer, s.previous_hash AS "previousHash",
            s.chain_hash AS "chainHash"
          FROM witness_head h
          LEFT JOIN witness_stones s ON s.sequence BETWEEN ${from - 1}::bigint AND ${from + limit - 1}::bigint
          WHERE h.id = 1 ORDER BY s.sequence`
        const first = rows[0]
        const head =
          first === undefined ? HashChain.genesis : { sequence: Number(first.headSequence), chainHash: first.headHash }
        const stored = rows.flatMap((row) => (row.id === null ? [] : [stoneOf(row)]))
        return yield* chain.segment(stored, head, from, limit)
      })

      const segment = Effect.fn("WitnessChain.segment")(function* (from: number, limit: number) {
        const { links, ...rest } = yield* segmentOf(from, limit)
        return { ...rest, links: links.map(entryOf) }
      })

      const head = Effect.gen(function* () {
        const known = yield* chain.brokenAt
        if (Option.isSome(known)) {
          yield* segmentOf(known.value, 1)
          yield* chain.mended
        }
        const [newest] = yield* sql<{ sequence: bigint }>`SELECT sequence FROM witness_head WHERE id = 1`
        return (yield* segmentOf(Math.max(1, Number(newest?.sequence ?? 0n)), 1)).head
      }).pipe(Effect.withSpan("WitnessChain.head"))

      return WitnessChain.of({ append, segment, check: chain.check, head })
    }),
  )
}

const entryOf = (stone: Stone): typeof ChainEntry.Type => ({
  sequence: stone.sequence,
  id: stone.id,
  commitment: stone.commitment,
  witnessedAt: stone.witnessedAt,
  transaction: stone.transaction,
  payer: stone.payer,
  previousHash: stone.previousHash,
  chainHash: stone.chainHash,
})
