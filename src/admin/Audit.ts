/** The audit of manual changes, written in the transaction of each change and never modified. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Moment, rowsOf } from "../platform/Rows.ts"

export interface AuditEntry {
  /** The account of the machine, or the given name. */
  readonly who: string
  readonly what: string
  /** The object of the change. */
  readonly subject: string
  readonly why: string
}

const Row = Schema.Struct({
  at: Moment,
  who: Schema.String,
  what: Schema.String,
  subject: Schema.String,
  why: Schema.String,
})

const entriesOf = rowsOf("admin_audit", Row)

export const make = Effect.map(SqlClient.SqlClient, (sql) => ({
  record: ({ subject, what, who, why }: AuditEntry) =>
    sql`INSERT INTO admin_audit (who, what, subject, why) VALUES (${who}, ${what}, ${subject}, ${why})`,
  /** Newest first. */
  list: (limit: number) =>
    entriesOf(sql`SELECT at, who, what, subject, why FROM admin_audit ORDER BY at DESC, id DESC LIMIT ${limit}::int`),
}))
