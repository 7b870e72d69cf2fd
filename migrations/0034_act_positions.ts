/** Acts by their position in the log, and acts that have none yet. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A migration of its own: acts are read while their indexes are built. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE UNIQUE INDEX acts_log_sequence ON acts (log_sequence) WHERE log_sequence IS NOT NULL`
  yield* sql`CREATE INDEX acts_unlogged ON acts (settled_at, id) WHERE log_sequence IS NULL`
})
