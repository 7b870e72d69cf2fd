/** The fee of a relayer's transaction that did not pay, and when it was noticed. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE relayer_broadcasts ADD COLUMN lost_wei numeric(78, 0), ADD COLUMN lost_at timestamptz(3)`
  yield* sql`CREATE INDEX relayer_broadcasts_lost ON relayer_broadcasts (lost_at) WHERE lost_at IS NOT NULL`
})
