/** Wallets that took our gas without paying, so that every server refuses them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Columns that the version before does not touch: while both run, it claims for a refused wallet, too. `lost_gas` is what
 * a refused wallet has cost since its refusal began; a broadcast is `blamed` once, so that it is counted once.
 * `codeless` is what a wallet was let in as: whoever hands the payment in later has to know it.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE payment_payers ADD COLUMN refused_until timestamptz(3), ADD COLUMN refusal text,
      ADD COLUMN lost_gas bigint NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX payment_payers_refused ON payment_payers (refused_until) WHERE refused_until IS NOT NULL`
  yield* sql`ALTER TABLE payment_attempts ADD COLUMN codeless boolean NOT NULL DEFAULT false`
  yield* sql`ALTER TABLE relayer_broadcasts ADD COLUMN blamed boolean NOT NULL DEFAULT false`
})
