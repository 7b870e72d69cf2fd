/** Acts of one kind and acts with one spirit, newest first, without reading the others. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX acts_kind ON acts (act, settled_at DESC, id DESC)`
  yield* sql`CREATE INDEX acts_spirit ON acts ((record::jsonb ->> 'spirit'), settled_at DESC, id DESC)`
})
