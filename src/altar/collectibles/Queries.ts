/** What collectibles let others read inside a statement of their own, so that a read stays one round trip. */
import type { SqlClient, Statement } from "effect/sql"

export const make = (sql: SqlClient.SqlClient) => ({
  /** How many editions are dedicated to a spirit's altar. */
  dedicatedTo: (spirit: Statement.Fragment) => sql`(SELECT count(*) FROM collectibles c WHERE c.spirit = ${spirit})`,
  /** The newest editions dedicated to a spirit's altar, by id. */
  newestOn: (spirit: string, limit: number) => sql`(SELECT id FROM collectibles WHERE spirit = ${spirit}::text
    ORDER BY collected_at DESC, id DESC LIMIT ${limit}::int)`,
})
