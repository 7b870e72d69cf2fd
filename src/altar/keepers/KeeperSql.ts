/** What keepers let others read inside a statement of their own, so that a read stays one round trip. */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { KeeperBrief } from "../../../schema/altar/Guide.ts"
import { Moment } from "../../platform/Rows.ts"

/** `columns` of a spirit; all null while nobody keeps it. */
export const KeeperRow = Schema.Union([
  Schema.Struct({ keeperId: Schema.Null }),
  Schema.Struct({
    keeperId: Schema.String,
    keeper: Schema.String,
    keeperName: Schema.NullOr(Schema.String),
    keptAt: Moment,
  }),
])

/** Who keeps a spirit, as it is shown. */
export const keeperOf = (publicUrl: string, row: typeof KeeperRow.Type): typeof KeeperBrief.Type | null =>
  row.keeperId === null
    ? null
    : {
        id: row.keeperId,
        permalink: `${publicUrl}/acts/${row.keeperId}`,
        keeper: row.keeper,
        agentName: row.keeperName,
        keptAt: row.keptAt,
      }

export const make = (sql: SqlClient.SqlClient) => ({
  /** Keepers as `k`, one for each `k.spirit` at most; `columns` are of them. */
  keepers: sql.literal("keepers k"),
  columns: sql.literal("k.id AS keeper_id, k.keeper, k.agent_name AS keeper_name, k.kept_at"),
  count: sql.literal("(SELECT count(*) FROM keepers)"),
  /** The act by which a spirit is kept, by id. */
  keepingOf: (spirit: string) => sql`(SELECT id FROM keepers WHERE spirit = ${spirit}::text)`,
})
