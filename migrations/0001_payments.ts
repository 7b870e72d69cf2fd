/** Attempts to pay, what they hold, and the numbered pools they draw from. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_attempts (
      id uuid PRIMARY KEY,
      idempotency_key text NOT NULL UNIQUE,
      fingerprint text NOT NULL,
      act text NOT NULL,
      url text NOT NULL,
      input text NOT NULL,
      network text NOT NULL,
      asset text NOT NULL,
      pay_to text NOT NULL,
      payer text NOT NULL,
      nonce text NOT NULL,
      amount_atomic numeric(78, 0) NOT NULL,
      valid_after numeric(78, 0) NOT NULL,
      valid_before bigint NOT NULL,
      signature text NOT NULL,
      payload text NOT NULL,
      from_block bigint NOT NULL,
      pool text,
      pool_number integer,
      state text NOT NULL CHECK (state IN ('pending', 'settled', 'failed')),
      reason text,
      transaction text,
      accepted_at timestamptz(3) NOT NULL,
      ended_at timestamptz(3),
      checks integer NOT NULL DEFAULT 0,
      next_check_at timestamptz(3) NOT NULL,
      answer text,
      payment_response text
    )`
  yield* sql`CREATE INDEX payment_attempts_due ON payment_attempts (next_check_at) WHERE state = 'pending'`
  yield* sql`
    CREATE TABLE payment_claims (
      name text PRIMARY KEY,
      attempt_id uuid NOT NULL REFERENCES payment_attempts (id)
    )`
  yield* sql`CREATE INDEX payment_claims_attempt ON payment_claims (attempt_id)`
  yield* sql`
    CREATE TABLE payment_pools (
      name text PRIMARY KEY,
      drawn integer NOT NULL,
      highest integer NOT NULL,
      released integer[] NOT NULL DEFAULT '{}'
    )`
})
