/** A room that its operator takes away, with all that is in it: nobody's invitation is asked for. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Answers whether there was one. */
export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fn("Removal.remove")((id: string) =>
    Effect.map(sql`DELETE FROM rooms WHERE id = ${id}::uuid RETURNING id`, (rows) => rows.length > 0),
  ),
)
