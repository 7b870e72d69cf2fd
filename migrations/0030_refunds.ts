/** Which payment each refund returns. The refund itself is an attempt whose payer is the wallet that was paid. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The version before sends and follows a refund as any attempt, and cannot record its end: it logs an error and leaves
 * the refund pending for this version. `payment` is the claim of the returned payment; `attempt` bought with it, or
 * failed. `pay_to` of an unmatched payment is null where the version before recorded it.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_refunds (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      payment text NOT NULL,
      attempt uuid REFERENCES payment_attempts (id),
      reason text NOT NULL,
      original_transaction text NOT NULL,
      original_atomic numeric(78, 0) NOT NULL
    )`
  yield* sql`CREATE INDEX payment_refunds_payment ON payment_refunds (payment)`
  yield* sql`CREATE INDEX payment_refunds_attempt ON payment_refunds (attempt) WHERE attempt IS NOT NULL`
  yield* sql`CREATE INDEX payment_refunds_transaction ON payment_refunds (original_transaction)`
  yield* sql`ALTER TABLE payment_strays ADD COLUMN pay_to text`
})
