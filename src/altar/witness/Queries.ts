/** What the witness chain lets others read inside a statement of their own, so that a read stays one round trip. */
import type { SqlClient } from "effect/sql"

export const make = (sql: SqlClient.SqlClient) => ({
  /** How many stones are set. */
  count: sql.literal("(SELECT sequence FROM witness_head WHERE id = 1)"),
  /** The newest stones set with a spirit, by id. */
  newestOn: (spirit: string, limit: number) =>
    sql`(SELECT id FROM witness_stones WHERE spirit = ${spirit}::text ORDER BY sequence DESC LIMIT ${limit}::int)`,
})
