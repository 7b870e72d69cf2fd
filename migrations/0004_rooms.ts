/** Signal rooms: what is decided under the lock of a room is in its row, and its messages are in a ring of 50 places. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Every send rewrites the row: it has space for an update on its page, and is not toasted.
  yield* sql`
    CREATE TABLE rooms (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      token_digest bytea NOT NULL CHECK (octet_length(token_digest) = 32),
      created_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      latest_sequence integer NOT NULL DEFAULT 0,
      client_keys uuid[] NOT NULL DEFAULT '{}',
      content_keys uuid[] NOT NULL DEFAULT '{}'
    ) WITH (fillfactor = 50, toast_tuple_target = 8160)`
  yield* sql`CREATE INDEX rooms_expiry ON rooms (expires_at)`
  yield* sql`
    CREATE TABLE room_messages (
      room_id uuid NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
      place smallint NOT NULL CHECK (place BETWEEN 1 AND 50),
      sequence integer NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (room_id, place)
    ) WITH (fillfactor = 80)`
})
