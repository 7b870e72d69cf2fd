/** Rate-limit state: times of accepted requests by pseudonym, not worth a log, and the secret the pseudonyms are made with. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE UNLOGGED TABLE rate_limits (
      key text PRIMARY KEY,
      hits timestamptz[] NOT NULL,
      idle_from timestamptz NOT NULL
    ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX rate_limits_idle ON rate_limits (idle_from)`
  yield* sql`
    CREATE TABLE rate_limit_secret (
      id smallint PRIMARY KEY CHECK (id = 1),
      secret text NOT NULL
    )`
})
