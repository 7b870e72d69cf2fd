/** Ends the alarm of a lost payment on the operator's behalf. The act stays sold, and its payment lost. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Returns whether the act had a lost payment without an acknowledgement. */
export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fn("Acknowledgement.acknowledge")((act: string) =>
    Effect.map(
      sql`UPDATE payment_attempts SET acknowledged_at = now()
        WHERE id = ${act}::uuid AND finality = 'lost' AND acknowledged_at IS NULL RETURNING id`,
      (rows) => rows.length > 0,
    ),
  ),
)
