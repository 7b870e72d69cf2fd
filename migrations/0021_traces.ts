/** The trace that an attempt belongs to, so that whoever looks at it later goes on with it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** W3C `traceparent`; null where its request was not traced. The version before neither writes nor reads it. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payment_attempts ADD COLUMN traceparent text`
})
