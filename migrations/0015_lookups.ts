/** What readers have in hand finds its acts and stones without reading them all. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE INDEX payment_attempts_payer ON payment_attempts (lower(payer), ended_at DESC, id DESC)
    WHERE state = 'settled'`
  yield* sql`CREATE INDEX payment_attempts_transaction ON payment_attempts (transaction) WHERE state = 'settled'`
  yield* sql`CREATE INDEX witness_stones_commitment ON witness_stones (commitment)`
  yield* sql`CREATE INDEX witness_stones_chain_hash ON witness_stones (chain_hash)`
  yield* sql`CREATE INDEX witness_stones_spirit ON witness_stones (spirit, sequence DESC)`
})
