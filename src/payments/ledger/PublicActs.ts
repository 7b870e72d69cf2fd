/** The public rows of settled acts as an operator meets them: to change what is shown, and to take them all along. */
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
export type PublicAct = typeof Row.Type

const actsOf = rowsOf("acts", Row)

type Place = Pick<PublicAct, "id" | "settledAt">

export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Whoever changes what is shown of an act goes one after the other: its attempt is locked, which a server may do. */
  lock: (id: string) => sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`,
  find: (id: string) =>
    Effect.map(actsOf(sql`SELECT * FROM acts WHERE id = ${id}::uuid FOR UPDATE`), ([row]) => Option.fromNullishOr(row)),
  /** What is shown from now on; the first answer, which whoever has the key can repeat, stays as it was. */
  show: (id: string, agentName: string | null, record: string) =>
    sql`UPDATE acts SET agent_name = ${agentName}, record = ${record} WHERE id = ${id}::uuid`,
  /** At most `limit` acts, oldest first, after the one given. */
  after: (last: Place | undefined, limit: number) =>
    actsOf(sql`
      SELECT * FROM acts
      ${last === undefined ? sql`` : sql`WHERE (settled_at, id) > (${last.settledAt}::timestamptz, ${last.id}::uuid)`}
      ORDER BY settled_at, id LIMIT ${limit}::int`),
}))
