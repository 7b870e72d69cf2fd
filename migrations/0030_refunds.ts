/** Transfers by which the operator paid a payment back. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** `payment` is the claim of the returned payment; `attempt` bought with it, or failed. `shown` is the public JSON. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_refunds (
      payment text PRIMARY KEY,
      transaction text NOT NULL UNIQUE,
      attempt uuid UNIQUE REFERENCES payment_attempts (id),
      shown text NOT NULL
    )`
  yield* sql`ALTER TABLE payment_strays ADD COLUMN pay_to text`
})
