/** The end of the pause between two checkpoints of the log. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The version before ignores it, and signs as soon as the tree has grown. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE log_head ADD COLUMN rests_until timestamptz NOT NULL DEFAULT 'epoch'`
})
