/** What a first look found, so that a second one can agree; and whether a settled transfer is still there when final. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `doubted_reason` is why an attempt fails, or a settled transfer is lost, if a later look says the same; `refusal` is
 * what a facilitator refused it with. The version before settles without `settled_block`: such a row is looked at as
 * well. `current_transaction` holds the transfer when a reorganisation put it into another transaction than the one
 * that was recorded. `acknowledged_at` is the operator's: a lost act that somebody has seen no longer fails the health.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE payment_attempts
      ADD COLUMN doubted_at timestamptz(3),
      ADD COLUMN doubted_reason text,
      ADD COLUMN refusal text,
      ADD COLUMN finality text NOT NULL DEFAULT 'pending',
      ADD COLUMN settled_block bigint,
      ADD COLUMN current_transaction text,
      ADD COLUMN acknowledged_at timestamptz(3)`
  yield* sql`
    CREATE INDEX payment_attempts_unfinal ON payment_attempts (next_check_at)
    WHERE state = 'settled' AND finality = 'pending' AND rail = 'x402'`
  yield* sql`
    CREATE INDEX payment_attempts_moved ON payment_attempts (current_transaction)
    WHERE current_transaction IS NOT NULL`
  yield* sql`CREATE INDEX payment_attempts_lost ON payment_attempts (id) WHERE finality = 'lost'`
})
