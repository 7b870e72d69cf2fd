/** Deletes a room for the operator, without its token. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Returns whether the room existed. */
export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fn("Removal.remove")((id: string) =>
    Effect.map(sql`DELETE FROM rooms WHERE id = ${id}::uuid RETURNING id`, (rows) => rows.length > 0),
  ),
)
