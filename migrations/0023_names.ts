/** Finds acts by the public name they were left under. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX acts_agent_name ON acts (lower(agent_name), settled_at DESC) WHERE agent_name IS NOT NULL`
})
