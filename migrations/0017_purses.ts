/** What a wallet has in flight, what the relayer has sent, and payments that belong to no purchase. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Tables, an index and a function that the version before does not touch. While both run, claims of the older one are
 * counted by the newer one, but do not wait for its lock.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE payment_payers (name text PRIMARY KEY)`
  yield* sql`CREATE INDEX payment_attempts_in_flight ON payment_attempts (payer) WHERE state = 'pending'`
  // A function has a look of its own at the tables: it sees what was committed while its caller waited for the lock.
  yield* sql`
    CREATE FUNCTION payment_fits(wallet text, amount numeric, balance numeric, since timestamptz, most integer)
    RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      RETURN (SELECT count(*) < most FROM payment_attempts WHERE payer = wallet AND state = 'pending')
        AND amount + (
          SELECT COALESCE(sum(amount_atomic), 0) FROM payment_attempts WHERE payer = wallet AND state = 'pending'
        ) + (
          SELECT COALESCE(sum(amount_atomic), 0) FROM (
            SELECT amount_atomic FROM payment_attempts
            WHERE lower(payer) = wallet AND state = 'settled' AND ended_at > since
            ORDER BY ended_at DESC LIMIT 64
          ) AS settled
        ) <= balance;
    END $$`
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
