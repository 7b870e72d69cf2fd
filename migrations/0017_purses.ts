/** What a wallet has in flight, what the relayer has sent, and payments that belong to no purchase. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Tables and an index that the version before does not touch. While both run, claims of the older one are counted by the
 * newer one, but do not wait for its lock. The function that counts them, `payment_fits`, is made by `0024_fits`.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE payment_payers (name text PRIMARY KEY)`
  yield* sql`CREATE INDEX payment_attempts_in_flight ON payment_attempts (payer) WHERE state = 'pending'`
  yield* sql`
    CREATE TABLE relayer_broadcasts (
      attempt_id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      nonce bigint NOT NULL,
      hash text NOT NULL,
      max_fee numeric(78, 0) NOT NULL,
      sent_at timestamptz(3) NOT NULL
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
