/** The Merkle log over the stones: how far it is built, its tiles, and every checkpoint that it signed. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Derived from the stones; settling touches none of this. A tile is one row that only grows. `stopped_code` and
 * `stopped_reason` are why nothing is appended or signed any more. `rests_until` is the earliest time of the next checkpoint, on all servers.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE log_head (
      id smallint PRIMARY KEY CHECK (id = 1),
      size bigint NOT NULL,
      root bytea NOT NULL CHECK (octet_length(root) = 32),
      stopped_code text,
      stopped_reason text,
      stopped_at timestamptz(3),
      rests_until timestamptz NOT NULL DEFAULT 'epoch'
    )`
  yield* sql`
    INSERT INTO log_head (id, size, root)
    VALUES (1, 0, decode('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex'))`
  yield* sql`
    CREATE TABLE log_tiles (
      level smallint NOT NULL,
      index bigint NOT NULL,
      hashes bytea NOT NULL CHECK (octet_length(hashes) BETWEEN 32 AND 8192 AND octet_length(hashes) % 32 = 0),
      PRIMARY KEY (level, index)
    )`
  yield* sql`
    CREATE TABLE log_checkpoints (
      size bigint PRIMARY KEY,
      root bytea NOT NULL CHECK (octet_length(root) = 32),
      note text NOT NULL,
      published_at timestamptz(3) NOT NULL DEFAULT now()
    )`
})
