/** How many payments travel in the transaction that a broadcast is. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The version before sends every payment alone and knows nothing of this column: what it replaces keeps the number it
 * had, and is then sent alone once more than it needs to be.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE relayer_broadcasts ADD COLUMN members smallint NOT NULL DEFAULT 1`
})
