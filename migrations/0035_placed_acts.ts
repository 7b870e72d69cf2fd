/** The number of positions given in the log over all acts, on the row that every settlement locks anyway. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The version before leaves this number and the position of its acts alone; the integrator places those. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_totals ADD COLUMN placed bigint NOT NULL DEFAULT 0`
  yield* sql`UPDATE payment_totals SET placed = (SELECT COALESCE(max(log_sequence), 0) FROM acts)`
})
