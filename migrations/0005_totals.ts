/** Sums that a read must not add up anew: they are counted when an act settles. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_totals (
      id smallint PRIMARY KEY CHECK (id = 1),
      settled bigint NOT NULL,
      settled_atomic numeric(78, 0) NOT NULL
    )`
  yield* sql`
    INSERT INTO payment_totals
    SELECT 1, count(*), COALESCE(sum(amount_atomic), 0) FROM payment_attempts WHERE state = 'settled'`
})
