/** What a wallet has in flight, what the relayer has sent, and payments that belong to no purchase. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The function that counts the payments in flight, `payment_fits`, is made by `0024_fits`. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE payment_payers (name text PRIMARY KEY, limited_until timestamptz(3))`
  yield* sql`CREATE INDEX payment_attempts_in_flight ON payment_attempts (payer) WHERE state = 'pending'`
  yield* sql`
    CREATE TABLE relayer_broadcasts (
      sender text NOT NULL,
      nonce bigint NOT NULL,
      attempt_id uuid UNIQUE REFERENCES payment_attempts (id),
      hash text NOT NULL,
      raw text NOT NULL,
      gas_at_risk bigint NOT NULL DEFAULT 0,
      sent_at timestamptz(3) NOT NULL,
      PRIMARY KEY (sender, nonce)
    )`
  yield* sql`
    CREATE TABLE payment_strays (
      name text PRIMARY KEY,
      network text NOT NULL,
      asset text NOT NULL,
      payer text NOT NULL,
      nonce text NOT NULL,
      amount_atomic numeric(78, 0) NOT NULL,
      valid_before numeric(78, 0) NOT NULL,
      transaction text NOT NULL,
      found_at timestamptz(3) NOT NULL
    )`
})
