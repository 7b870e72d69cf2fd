/** Counts of the wider IPv6 networks of an address, each width in a table: a statement changes every table once. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The version before counts by address alone and leaves these empty. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE UNLOGGED TABLE rate_limits_56 (
      key text PRIMARY KEY,
      hits timestamptz[] NOT NULL,
      idle_from timestamptz NOT NULL
    ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX rate_limits_56_idle ON rate_limits_56 (idle_from)`
  yield* sql`
    CREATE UNLOGGED TABLE rate_limits_48 (
      key text PRIMARY KEY,
      hits timestamptz[] NOT NULL,
      idle_from timestamptz NOT NULL
    ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX rate_limits_48_idle ON rate_limits_48 (idle_from)`
})
