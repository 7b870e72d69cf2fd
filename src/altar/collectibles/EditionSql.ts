/** What collectibles let others read inside a statement of their own, so that a read stays one round trip. */
import type { SqlClient } from "effect/sql"

export const make = (sql: SqlClient.SqlClient) => ({
  /** A row for each `spirit` to whose altar editions are `dedicated`: how many. */
  perSpirit: sql.literal(
    "(SELECT spirit, count(*) AS dedicated FROM collectibles WHERE spirit IS NOT NULL GROUP BY spirit)",
  ),
  /** The newest editions dedicated to a spirit's altar, by id. */
  newestOn: (spirit: string, limit: number) => sql`(SELECT id FROM collectibles WHERE spirit = ${spirit}::text
    ORDER BY collected_at DESC, id DESC LIMIT ${limit}::int)`,
})
