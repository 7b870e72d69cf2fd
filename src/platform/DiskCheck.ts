/** Whether the database can still create files: a full disk lets reads and small changes pass and fails purchases. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Rows that need more memory than the statement may use, so that they are written to a temporary file. */
const rows = 20_000

/** Fails on a full disk. It writes about half a megabyte and deletes it. */
export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  sql.withTransaction(
    Effect.andThen(sql`SET LOCAL work_mem = '64kB'`, sql`SELECT count(*) FROM generate_series(1, ${rows}::int)`),
  ),
)
