/** The publication chain: every manifest published and every edition acquired, linked and re-hashed like the stones. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Publication } from "../../../schema/altar/Catalog.ts"
import { transaction } from "../../platform/Sql.ts"
import { sha256 } from "../Hashes.ts"
import * as HashChain from "../HashChain.ts"
import { Items } from "../collectibles/Items.ts"
import { now } from "../../platform/Time.ts"

export type Entry = typeof Publication.Type

export type NewEntry = Omit<Entry, "sequence" | "previousHash" | "chainHash">

/** Nine parts joined by NUL, absent ones empty (schema/altar/Catalog.ts, Publication). */
export const publicationHash = (entry: Entry): string =>
  sha256(
    [entry.previousHash, entry.sequence, entry.type, entry.itemId, entry.manifestHash]
      .concat([entry.edition ?? "", entry.keeper ?? "", entry.transaction ?? "", entry.publishedAt])
      .join("\0"),
  )

type Row = Omit<Entry, "sequence"> & { readonly sequence: bigint }

export class PublicationChain extends Context.Service<
  PublicationChain,
  {
    /** Appends entries behind the head, in order; to be called inside a transaction. */
    append(entries: ReadonlyArray<NewEntry>): Effect.Effect<ReadonlyArray<Entry>, SqlError.SqlError>
    /** At most `limit` entries from `from` on. */
    segment(
      from: number,
      limit: number,
    ): Effect.Effect<HashChain.Segment<Entry>, SqlError.SqlError | HashChain.ChainBroken>
  }
>()("spirit-altar/altar/guide/PublicationChain") {
  static readonly layer = Layer.effect(
    PublicationChain,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const items = yield* Items
      const chain = yield* HashChain.make("publication", publicationHash)

      const lockedHead = sql<{ sequence: bigint; chainHash: string }>`
        SELECT sequence, chain_hash FROM publication_head WHERE id = 1 FOR UPDATE`.pipe(
        Effect.flatMap(([head]) =>
          head === undefined ? Effect.die("the publication chain has no head") : Effect.succeed(head),
        ),
      )

      const append = Effect.fn("PublicationChain.append")(function* (entries: ReadonlyArray<NewEntry>) {
        const head = yield* lockedHead
        let sequence = Number(head.sequence)
        let previousHash = head.chainHash
        const appended = entries.map((entry): Entry => {
          sequence += 1
          const link = { ...entry, sequence, previousHash, chainHash: "" }
          previousHash = publicationHash(link)
          return { ...link, chainHash: previousHash }
        })
        yield* sql`
          WITH entries AS (
            INSERT INTO publications (sequence, type, item_id, manifest_hash, edition, keeper, transaction, published_at,
              previous_hash, chain_hash)
            SELECT sequence, type, "itemId", "manifestHash", edition, keeper, transaction, "publishedAt",
              "previousHash", "chainHash"
            FROM json_to_recordset(${JSON.stringify(appended)}::json) AS r(sequence bigint, type text, "itemId" text,
              "manifestHash" text, edition int, keeper text, transaction text, "publishedAt" text,
              "previousHash" text, "chainHash" text)
          )
          UPDATE publication_head SET sequence = ${sequence}::bigint, chain_hash = ${previousHash} WHERE id = 1`
        return appended
      })

      const segment = Effect.fn("PublicationChain.segment")(function* (from: number, limit: number) {
        const rows = yield* sql<Row & { headSequence: bigint; headHash: string }>`
          SELECT h.sequence AS head_sequence, h.chain_hash AS head_hash, p.sequence, p.type, p.item_id, p.manifest_hash,
            p.edition, p.keeper, p.transaction, p.published_at, p.previous_hash, p.chain_hash
          FROM publication_head h
          LEFT JOIN publications p ON p.sequence BETWEEN ${from - 1}::bigint AND ${from + limit - 1}::bigint
          WHERE h.id = 1 ORDER BY p.sequence`
        const first = rows[0]
        const head =
          first === undefined ? HashChain.genesis : { sequence: Number(first.headSequence), chainHash: first.headHash }
        const stored = rows.flatMap(({ headHash: _, headSequence: __, ...row }) =>
          row.itemId === null ? [] : [{ ...row, sequence: Number(row.sequence) }],
        )
        return yield* chain.segment(stored, head, from, limit)
      })

      /** Publishes manifests that are new or have changed; several servers may start at once. */
      const publish = Effect.gen(function* () {
        yield* lockedHead
        const known = yield* sql<{ key: string }>`
          SELECT item_id || ' ' || manifest_hash AS key FROM publications WHERE type = 'manifest'`
        const published = new Set(known.map(({ key }) => key))
        const publishedAt = yield* now
        const fresh = [...items.values()].filter((item) => !published.has(`${item.id} ${item.manifestHash}`))
        if (fresh.length > 0) {
          yield* append(
            fresh.map(({ id, manifestHash }) => ({
              type: "manifest",
              itemId: id,
              manifestHash,
              edition: null,
              keeper: null,
              transaction: null,
              publishedAt,
            })),
          )
        }
      })
      yield* transaction(sql, publish)

      return PublicationChain.of({ append, segment })
    }),
  )
}
