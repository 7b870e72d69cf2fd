/** The original texts of everything an operator hid, so that it can be shown again. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../platform/Rows.ts"

/** The shown texts of an act's field by place; null where a place showed nothing. */
const ShownTexts = Schema.Record(Schema.String, Schema.NullOr(Schema.String))
export type Shown = typeof ShownTexts.Type

const shownOf = rowsOf("moderation_hidden", Schema.Struct({ shown: Schema.fromJsonString(ShownTexts) }))

export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const first = Effect.map(([row]: ReadonlyArray<{ readonly shown: Shown }>) => row?.shown)
  const find = (id: string, field: string) =>
    first(shownOf(sql`SELECT shown FROM moderation_hidden WHERE subject = ${id}::uuid AND field = ${field}`))
  return {
    find,
    /** Keeps the texts of the first hiding and adds later ones, such as the name of a later reveal. */
    keep: Effect.fnUntraced(function* (id: string, field: string, shown: Shown) {
      const kept = Object.entries((yield* find(id, field)) ?? {}).filter(([, text]) => text !== null)
      yield* sql`
        INSERT INTO moderation_hidden (subject, field, shown)
        VALUES (${id}::uuid, ${field}, ${JSON.stringify({ ...shown, ...Object.fromEntries(kept) })})
        ON CONFLICT (subject, field) DO UPDATE SET shown = excluded.shown`
    }),
    /** Removes and returns the texts to show again. */
    take: (id: string, field: string) =>
      first(
        shownOf(sql`DELETE FROM moderation_hidden WHERE subject = ${id}::uuid AND field = ${field} RETURNING shown`),
      ),
  }
})
