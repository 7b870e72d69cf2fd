/** Whether a wallet's balance covers one more payment, in plain SQL: no procedural language is needed any more. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A volatile function has a look of its own at the tables: it sees what was committed while its caller waited for the
 * wallet's lock. It answers what the function of the version before answered, which that version then calls as well.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE OR REPLACE FUNCTION payment_fits(wallet text, amount numeric, balance numeric, since timestamptz, most integer)
    RETURNS boolean LANGUAGE sql VOLATILE AS $$
      SELECT count(*) < most AND amount + COALESCE(sum(amount_atomic), 0) + (
        SELECT COALESCE(sum(amount_atomic), 0) FROM (
          SELECT amount_atomic FROM payment_attempts
          WHERE lower(payer) = wallet AND state = 'settled' AND ended_at > since
          ORDER BY ended_at DESC LIMIT 64
        ) AS settled
      ) <= balance FROM payment_attempts WHERE payer = wallet AND state = 'pending'
    $$`
})
