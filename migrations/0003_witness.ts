/** The witness chain: its one head, its stones, and what was revealed of them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE witness_head (
      id smallint PRIMARY KEY CHECK (id = 1),
      sequence bigint NOT NULL,
      chain_hash text NOT NULL,
      witnessed_at timestamptz(3) NOT NULL
    )`
  yield* sql`INSERT INTO witness_head VALUES (1, 0, ${"0".repeat(64)}, '1970-01-01T00:00:00Z')`
  yield* sql`
    CREATE TABLE witness_stones (
      sequence bigint PRIMARY KEY,
      id uuid NOT NULL UNIQUE REFERENCES payment_attempts (id),
      commitment text NOT NULL,
      kind text NOT NULL,
      spirit text NOT NULL,
      agent_name text,
      witnessed_at text NOT NULL,
      payer text NOT NULL,
      transaction text NOT NULL,
      previous_hash text NOT NULL,
      chain_hash text NOT NULL
    )`
  yield* sql`
    CREATE TABLE witness_reveals (
      stone_id uuid PRIMARY KEY REFERENCES witness_stones (id),
      salt text NOT NULL,
      text text NOT NULL,
      hidden boolean NOT NULL,
      agent_name text,
      revealed_at timestamptz(3) NOT NULL
    )`
})
