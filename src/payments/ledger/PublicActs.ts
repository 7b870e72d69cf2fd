/** The public rows of settled acts as an operator meets them: to change what is shown, and to take them all along. */
import { Effect, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
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

export interface PublicActs {
  /** Whoever changes what is shown of an act goes one after the other: its attempt is locked, which a server may do. */
  lock(id: string): Effect.Effect<unknown, SqlError.SqlError>
  /** Locks the row until the transaction ends. */
  find(id: string): Effect.Effect<Option.Option<PublicAct>, SqlError.SqlError>
  /** What is shown from now on; the first answer, which whoever has the key can repeat, stays as it was. */
  show(id: string, agentName: string | null, record: string): Effect.Effect<unknown, SqlError.SqlError>
  /** At most `limit` acts, oldest first, after the one given. */
  after(
    last: Pick<PublicAct, "id" | "settledAt"> | undefined,
    limit: number,
  ): Effect.Effect<ReadonlyArray<PublicAct>, SqlError.SqlError>
}

export const make = Effect.map(SqlClient.SqlClient, (sql): PublicActs => ({
  lock: Effect.fn("PublicActs.lock")((id) => sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`),
  find: Effect.fn("PublicActs.find")((id) =>
    Effect.map(actsOf(sql`SELECT * FROM acts WHERE id = ${id}::uuid FOR UPDATE`), ([row]) => Option.fromNullishOr(row)),
  ),
  show: Effect.fn("PublicActs.show")(
    (id, agentName, record) =>
      sql`UPDATE acts SET agent_name = ${agentName}, record = ${record} WHERE id = ${id}::uuid`,
  ),
  after: Effect.fn("PublicActs.after")((last, limit) =>
    actsOf(sql`
        SELECT * FROM acts
        ${last === undefined ? sql`` : sql`WHERE (settled_at, id) > (${last.settledAt}::timestamptz, ${last.id}::uuid)`}
        ORDER BY settled_at, id LIMIT ${limit}::int`),
  ),
}))
