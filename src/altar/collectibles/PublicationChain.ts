/** The publication chain: every published manifest and every acquired edition, linked and re-hashed like the stones. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Publication } from "../../../schema/altar/Catalog.ts"
import { rowsOf, Whole } from "../../platform/Rows.ts"
import { transaction } from "../../platform/Sql.ts"
import { Items } from "./Items.ts"
import { sha256 } from "../Hashes.ts"
import * as StoredChain from "../StoredChain.ts"

export type Entry = typeof Publication.Type

export type NewEntry = Omit<Entry, keyof StoredChain.Link>

/** Hashes nine parts joined by NUL, absent ones empty (schema/altar/Catalog.ts, Publication). */
export const publicationHash = (entry: NewEntry, { previousHash, sequence }: StoredChain.Place): string =>
  sha256(
    [previousHash, sequence, entry.type, entry.itemId, entry.manifestHash]
      .concat([entry.edition ?? "", entry.keeper ?? "", entry.transaction ?? "", entry.publishedAt])
      .join("\0"),
  )

const PublicationRow = Schema.Struct({
  sequence: Whole,
  type: Publication.fields.type,
  itemId: Schema.String,
  manifestHash: Schema.String,
  edition: Schema.NullOr(Schema.Int),
  keeper: Schema.NullOr(Schema.String),
  transaction: Schema.NullOr(Schema.String),
  publishedAt: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
})

const manifestsOf = rowsOf("publications", Schema.Struct({ itemId: Schema.String, manifestHash: Schema.String }))

export class PublicationChain extends Context.Service<PublicationChain>()(
  "spirit-altar/altar/collectibles/PublicationChain",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inTransaction = yield* transaction
      const items = yield* Items
      const chain = yield* StoredChain.make({
        name: "publication",
        links: "publications",
        head: "publication_head",
        types: {
          type: "text",
          itemId: "text",
          manifestHash: "text",
          edition: "int",
          keeper: "text",
          transaction: "text",
          publishedAt: "text",
        },
        row: PublicationRow,
        hashOf: publicationHash,
      })

      /** New and changed manifests; the head is locked, so that several servers may start at once. */
      const unpublished = Effect.fnUntraced(function* (publishedAt: string) {
        const rows = yield* manifestsOf(sql`SELECT item_id, manifest_hash FROM publications WHERE type = 'manifest'`)
        const published = new Set(rows.map(({ itemId, manifestHash }) => `${itemId} ${manifestHash}`))
        return [...items.values()]
          .filter(({ id, manifestHash }) => !published.has(`${id} ${manifestHash}`))
          .map(({ id, manifestHash }) => ({
            type: "manifest" as const,
            itemId: id,
            manifestHash,
            edition: null,
            keeper: null,
            transaction: null,
            publishedAt,
          }))
      })
      yield* inTransaction(chain.append(unpublished))

      return {
        /** Appends entries behind the head, in order; runs inside a transaction. */
        append: Effect.fn("PublicationChain.append")((entries) => chain.append(() => Effect.succeed(entries))),
        segment: chain.page,
      }
    }),
  },
) {
  static readonly layer = Layer.effect(this, this.make)
}
