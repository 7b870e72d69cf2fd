/** Settings of a database or role that no statement of ours can work with. They are named at start and by `--check`. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "./Rows.ts"

/** The message names the setting and the statement that mends it. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  message: Schema.String,
}) {}

const settingsOf = rowsOf(
  "current_setting",
  Schema.Struct({
    role: Schema.String,
    database: Schema.String,
    schema: Schema.NullOr(Schema.String),
    encoding: Schema.String,
    isolation: Schema.String,
    readOnly: Schema.String,
  }),
)

const settings = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  settingsOf(sql`
    SELECT current_user::text AS role, current_database()::text AS database, current_schema()::text AS schema,
      current_setting('server_encoding') AS encoding, current_setting('transaction_isolation') AS isolation,
      current_setting('transaction_read_only') AS read_only`),
)

const reset = (role: string, database: string, setting: string) =>
  `Run ALTER ROLE ${role} RESET ${setting}, or ALTER DATABASE ${database} RESET ${setting}.`

/** Why the server cannot start, or with `toSell` cannot sell, on this database; undefined if it can. */
const faultOf = (toSell: boolean) =>
  Effect.map(settings, ([row]) => {
    if (row === undefined) return undefined
    const { database, encoding, isolation, readOnly, role, schema } = row
    if (schema === null) {
      return `The search_path of the role ${role} names no schema that exists. ${reset(role, database, "search_path")}`
    }
    if (encoding !== "UTF8") {
      return `The database ${database} stores text as ${encoding}. Create one with ENCODING 'UTF8'.`
    }
    if (isolation !== "read committed") {
      return `Transactions of the role ${role} are ${isolation}, and the server needs read committed. ${reset(role, database, "default_transaction_isolation")}`
    }
    return toSell && readOnly === "on"
      ? `The database ${database} accepts no writes: it is a standby, or default_transaction_read_only is on. ${reset(role, database, "default_transaction_read_only")}`
      : undefined
  })

export const unusable = faultOf(false)
export const unsellable = faultOf(true)
