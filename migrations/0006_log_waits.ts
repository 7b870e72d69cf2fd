/** The input that a log waits for before it signs, and since when, as the server that waits last recorded it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE log_head ADD COLUMN waits_for text, ADD COLUMN waits_since timestamptz(3)`,
)
