/** SQL parts about keepers for the statements of other reads, which stay one round trip. */
import { Schema } from "effect"
import type { KeeperBrief } from "../../../schema/altar/Guide.ts"
import { Moment } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"

/** `columns` of a spirit; all null while it has no keeper. */
export const KeeperRow = Schema.Union([
  Schema.Struct({ keeperId: Schema.Null }),
  Schema.Struct({
    keeperId: Schema.String,
    keeper: Schema.String,
    keeperName: Schema.NullOr(Schema.String),
    keptAt: Moment,
  }),
])

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

/** Keepers as `k`, at most one for each `k.spirit`, and their `columns`. */
export const keepers = part`keepers k`
export const columns = part`k.id AS keeper_id, k.keeper, k.agent_name AS keeper_name, k.kept_at`

export const count = part`(SELECT count(*) FROM keepers)`
