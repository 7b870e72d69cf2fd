/** Gives the table of unmatched payments their name. The old name stays as a view. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_strays RENAME TO unmatched_payments`
  yield* sql`ALTER TABLE unmatched_payments RENAME COLUMN found_at TO recorded_at`
  yield* sql`ALTER INDEX payment_strays_pkey RENAME TO unmatched_payments_pkey`
  yield* sql`ALTER INDEX payment_strays_attempt RENAME TO unmatched_payments_attempt`
  // The version that runs beside this one during an upgrade reads and writes under the old name.
  yield* sql`
    CREATE VIEW payment_strays AS SELECT name, network, asset, payer, nonce, amount_atomic, valid_before, transaction,
      recorded_at AS found_at, pay_to, attempt FROM unmatched_payments`
})
