/** What collectibles let others read inside a statement of their own, so that a read stays one round trip. */
import type { SqlClient, Statement } from "effect/sql"

export const make = (sql: SqlClient.SqlClient) => ({
  /** How many editions are dedicated to a spirit's altar. */
  dedicatedTo: (spirit: Statement.Fragment) => sql`(SELECT count(*) FROM collectibles c WHERE c.spirit = ${spirit})`,
})
