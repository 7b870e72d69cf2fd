/** Claims of many purchases in one statement: what it drew from each pool, a kept plan, and an index for each question. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** `taken` are the numbers that the last claim drew; `drawn` is written for the version beside this one alone. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_pools ADD COLUMN taken integer[] NOT NULL DEFAULT '{}'`
  // PostgreSQL plans the body of a function in SQL at each call, and keeps the plan of this one. A plan made while the
  // table is small must not read all of it once it has grown.
  yield* sql`
    CREATE OR REPLACE FUNCTION payment_fits(wallet text, amount numeric, balance numeric, since timestamptz, most integer)
    RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
    BEGIN
      RETURN (
        SELECT count(*) < most AND amount + COALESCE(sum(amount_atomic), 0) + (
          SELECT COALESCE(sum(amount_atomic), 0) FROM (
            SELECT amount_atomic FROM payment_attempts
            WHERE payer = wallet AND state = 'settled' AND ended_at > since
            ORDER BY ended_at DESC LIMIT 64
          ) AS settled
        ) <= balance FROM payment_attempts WHERE payer = wallet AND state = 'pending'
      );
    END $$`
  // Named by its condition, so that no search for a wallet's pending attempts reads those of all wallets.
  yield* sql`DROP INDEX payment_attempts_due`
  yield* sql`
    CREATE INDEX payment_attempts_due ON payment_attempts (next_check_at)
    WHERE state = 'pending' AND next_check_at IS NOT NULL`
})
