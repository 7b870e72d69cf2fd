/** Attempts that are paid by card, beside those paid on chain. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A card attempt fills the columns of an authorization with what it has (see `src/payments/Payment.ts`). The version
 * before asks the chain for it, finds nothing, and can never end it: its `valid_before` lies in the year 9999.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_attempts ADD COLUMN rail text NOT NULL DEFAULT 'x402'`
  yield* sql`ALTER TABLE candles ALTER COLUMN payer DROP NOT NULL, ALTER COLUMN transaction DROP NOT NULL`
})
