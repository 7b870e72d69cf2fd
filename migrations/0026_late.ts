/** Failed attempts whose authorization somebody may still bring to the chain, and who travelled in one transaction. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A column that the version before does not touch: what it fails is found when it is shown again, as before. `is_alive` says
 * that a failed attempt is still looked at, until its authorization has ended.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Before the table of attempts is locked: the version before goes on meanwhile.
  yield* sql`CREATE INDEX relayer_broadcasts_hash ON relayer_broadcasts (hash)`
  yield* sql`ALTER TABLE payment_attempts ADD COLUMN is_alive boolean NOT NULL DEFAULT false`
  yield* sql`
    CREATE INDEX payment_attempts_alive ON payment_attempts (next_check_at) WHERE state = 'failed' AND is_alive`
})
