/** Rate-limit state: times of accepted requests by pseudonym, and the secret that makes the pseudonyms. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** For an address and its wider IPv6 networks, each in a table of its own: a statement changes every table once. */
const tables = ["rate_limits", "rate_limits_56", "rate_limits_48"]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of tables) {
    // Unlogged: after a crash every limit starts again.
    yield* sql`
      CREATE UNLOGGED TABLE ${sql(table)} (
        key text PRIMARY KEY,
        hits timestamptz[] NOT NULL,
        idle_from timestamptz NOT NULL
      ) WITH (fillfactor = 50)`
    yield* sql`CREATE INDEX ${sql(`${table}_idle`)} ON ${sql(table)} (idle_from)`
  }
  yield* sql`
    CREATE TABLE rate_limit_secret (
      id smallint PRIMARY KEY CHECK (id = 1),
      secret text NOT NULL
    )`
})
