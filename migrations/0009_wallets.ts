/** The record of a wallet: its stones by an index, and the payer of each revealed one, so that both are counted fast. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** `payer` of a reveal is that of its stone, and null for a candle or a light. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX witness_stones_payer ON witness_stones (payer, sequence DESC)`
  // Equal entries share their key, so counting reads a tenth of the pages of an index that also has the sequence.
  yield* sql`CREATE INDEX witness_stones_payer_kind ON witness_stones (payer, kind)`
  yield* sql`CREATE INDEX witness_stones_words_hidden ON witness_stones (payer) WHERE 'words' = ANY(hidden)`
  yield* sql`ALTER TABLE reveals ADD COLUMN payer text`
  yield* sql`UPDATE reveals r SET payer = s.payer FROM witness_stones s WHERE s.id = r.id`
  yield* sql`CREATE INDEX reveals_payer ON reveals (payer, hidden) WHERE payer IS NOT NULL`
  // A trigger, because the version that runs beside this one during an upgrade does not name the payer.
  yield* sql`
    CREATE FUNCTION reveal_payer() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.payer := (SELECT payer FROM witness_stones WHERE id = NEW.id);
        RETURN NEW;
      END
    $$`
  yield* sql`CREATE TRIGGER reveals_payer BEFORE INSERT ON reveals FOR EACH ROW EXECUTE FUNCTION reveal_payer()`
})
