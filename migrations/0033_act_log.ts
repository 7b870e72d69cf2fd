/** The Merkle log over all settled acts: its tree beside that of the stones, and the position of each act. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The version before names the row of `log_head` that it reads, and inserts acts without a position. Servers of this
 * version give those their positions, and the acts that are older than this migration.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE log_head DROP CONSTRAINT log_head_id_check`
  yield* sql`ALTER TABLE log_head ADD CONSTRAINT log_head_id_check CHECK (id IN (1, 2))`
  yield* sql`
    INSERT INTO log_head (id, size, root)
    VALUES (2, 0, decode('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex'))`
  yield* sql`CREATE TABLE log_act_tiles (LIKE log_tiles INCLUDING ALL)`
  yield* sql`CREATE TABLE log_act_checkpoints (LIKE log_checkpoints INCLUDING ALL)`
  yield* sql`ALTER TABLE acts ADD COLUMN log_sequence bigint CHECK (log_sequence > 0)`
})
