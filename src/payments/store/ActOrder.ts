/** The positions of settled acts in the log over them, and the first answers that their entries are made of. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Whole } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"
import { settledActs } from "./LedgerSql.ts"

/** Moderation changes the public row and never the first answer. */
const row = part`a.log_sequence AS sequence, ARRAY[a.id::text, p.answer, p.payment_response] AS parts`

const totalsOf = rowsOf("acts", Schema.Struct({ total: Whole }))
const waitingOf = rowsOf("acts", Schema.Struct({ isWaiting: Schema.Boolean }))

export class ActOrder extends Context.Service<ActOrder>()("spirit-altar/payments/store/ActOrder", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    /**
     * Gives at most `limit` acts of earlier versions the next positions, oldest first. Settling gives all others theirs, by
     * the same counter. The caller holds the locked head of the log, so no two servers do so at once.
     */
    place: (limit: number) => sql`
      WITH waiting AS (
        SELECT id, row_number() OVER (ORDER BY settled_at, id) AS turn
        FROM acts WHERE log_sequence IS NULL ORDER BY settled_at, id LIMIT ${limit}::int
      ), counted AS (
        UPDATE payment_totals SET placed = placed + (SELECT count(*) FROM waiting) WHERE id = 1 RETURNING placed
      )
      UPDATE acts a SET log_sequence = c.placed - (SELECT count(*) FROM waiting) + w.turn
      FROM waiting w, counted c WHERE a.id = w.id`,
    /** Whether an act has no position yet. */
    isAnyWaiting: Effect.map(
      waitingOf(sql`SELECT EXISTS (SELECT 1 FROM acts WHERE log_sequence IS NULL) AS "isWaiting"`),
      ([found]) => found?.isWaiting === true,
    ),
    /** The number of settled acts, by two indexes. */
    total: Effect.map(
      totalsOf(sql`
        SELECT COALESCE((SELECT max(log_sequence) FROM acts), 0)
          + (SELECT count(*) FROM acts WHERE log_sequence IS NULL) AS total`),
      ([found]) => found?.total ?? 0,
    ),
    /** Statements of rows with `sequence` and `parts`: the id, the text of the first answer and its header. */
    one: (id: string) => sql`SELECT ${row} FROM ${settledActs} WHERE a.id = ${id}::uuid`,
    /** `count` is the number of all positions. */
    segment: (from: number, limit: number) => sql`
      SELECT c.count, e.sequence, e.parts
      FROM (SELECT COALESCE(max(log_sequence), 0) AS count FROM acts) c
      LEFT JOIN (
        SELECT ${row} FROM ${settledActs}
        WHERE a.log_sequence BETWEEN ${from}::bigint AND ${from + limit - 1}::bigint
      ) e ON true
      ORDER BY e.sequence`,
  })),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
