/** Settled acts, one public row each. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE acts (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      act text NOT NULL,
      permalink text NOT NULL,
      agent_name text,
      settled_at timestamptz(3) NOT NULL,
      receipt text NOT NULL,
      record text NOT NULL
    )`
  yield* sql`CREATE INDEX acts_newest ON acts (settled_at DESC, id DESC)`
})
