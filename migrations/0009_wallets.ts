/** The record of a wallet: its stones by an index, and the payer of each revealed one, so that both are counted fast. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `payer` of a reveal is that of its stone, and empty for a candle or a light. It is null where the version that runs
 * beside this one during an upgrade stored the reveal.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX witness_stones_payer ON witness_stones (payer, sequence DESC)`
  // Equal entries share their key, so counting reads a tenth of the pages of an index that also has the sequence.
  yield* sql`CREATE INDEX witness_stones_payer_kind ON witness_stones (payer, kind)`
  yield* sql`CREATE INDEX witness_stones_words_hidden ON witness_stones (payer) WHERE 'words' = ANY(hidden)`
  yield* sql`ALTER TABLE reveals ADD COLUMN payer text`
  yield* sql`UPDATE reveals r SET payer = COALESCE((SELECT payer FROM witness_stones s WHERE s.id = r.id), '')`
  yield* sql`CREATE INDEX reveals_payer ON reveals (payer, hidden)`
  yield* sql`CREATE INDEX reveals_without_payer ON reveals (id) WHERE payer IS NULL`
})
