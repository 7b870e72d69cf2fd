/** The public rows of settled acts, for the operator's changes of what is shown. */
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Moment, rowsOf } from "../../platform/Rows.ts"

const Row = Schema.Struct({
  id: Schema.String,
  act: Schema.String,
  permalink: Schema.String,
  agentName: Schema.NullOr(Schema.String),
  settledAt: Moment,
  receipt: Schema.String,
  record: Schema.String,
})

const actsOf = rowsOf("acts", Row)

export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Locks the attempt of an act, so that changes of its public row run one at a time. */
  lock: (id: string) => sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`,
  find: (id: string) =>
    Effect.map(actsOf(sql`SELECT * FROM acts WHERE id = ${id}::uuid FOR UPDATE`), ([row]) => Option.fromNullishOr(row)),
  /** Changes what is shown. The stored first answer stays, and a replay of its key returns it. */
  show: (id: string, agentName: string | null, record: string) =>
    sql`UPDATE acts SET agent_name = ${agentName}, record = ${record} WHERE id = ${id}::uuid`,
}))
