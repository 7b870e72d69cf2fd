/** Finds acts by the words of their public texts. Only the server's new searches use these indexes. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX candles_dedication_words ON candles USING gin (to_tsvector('simple', dedication))`
  yield* sql`CREATE INDEX candle_unseals_words ON candle_unseals USING gin (to_tsvector('simple', words))`
  yield* sql`CREATE INDEX keepers_reason_words ON keepers USING gin (to_tsvector('simple', reason))`
  yield* sql`CREATE INDEX collectibles_reason_words ON collectibles USING gin (to_tsvector('simple', reason))`
  yield* sql`CREATE INDEX witness_reveals_words ON witness_reveals USING gin (to_tsvector('simple', text))`
})
