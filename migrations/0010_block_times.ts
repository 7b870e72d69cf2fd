/** The time of the final block that holds a payment, in seconds since 1970. It is asked once, after the end of the attempt. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_attempts ADD COLUMN block_time bigint`
  yield* sql`
    CREATE INDEX payment_attempts_undated ON payment_attempts (settled_block)
    WHERE finality = 'final' AND rail = 'x402' AND block_time IS NULL`
})
