/** EIP-3009 transfers to us as one scan of the chain reads them, and how far it has read. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `name` is that of the authorization in `payment_claims`. A row is provisional until its block is final. `recipients`
 * are wallets as a JSON array; `doubted_at` is when a node first had another block at the number of `final_block`.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE chain_transfers (
      name text PRIMARY KEY,
      network text NOT NULL,
      asset text NOT NULL,
      payer text NOT NULL,
      nonce text NOT NULL,
      pay_to text NOT NULL,
      amount_atomic numeric(78, 0) NOT NULL,
      transaction text NOT NULL,
      block bigint NOT NULL,
      block_hash text NOT NULL,
      log_index integer NOT NULL,
      is_final boolean NOT NULL
    )`
  yield* sql`CREATE INDEX chain_transfers_block ON chain_transfers (network, asset, block)`
  yield* sql`
    CREATE TABLE chain_scans (
      network text NOT NULL,
      asset text NOT NULL,
      recipients text NOT NULL,
      final_block bigint NOT NULL,
      final_hash text NOT NULL,
      final_time bigint NOT NULL,
      head_block bigint NOT NULL,
      head_hash text NOT NULL,
      due_at timestamptz NOT NULL DEFAULT now(),
      doubted_at timestamptz,
      PRIMARY KEY (network, asset)
    )`
})
