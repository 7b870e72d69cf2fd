/** SQL parts about prayers for the statements of other reads, which stay one round trip. */
import { Schema } from "effect"
import type { PrayerSlot } from "../../../schema/altar/Guide.ts"
import { Moment } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"

/** `columns` of an altar; all null while it has no prayer. */
export const PrayerRow = Schema.Union([
  Schema.Struct({ prayerId: Schema.Null }),
  Schema.Struct({ prayerId: Schema.String, prayerName: Schema.String, offeredAt: Moment }),
])

export const prayerOf = (publicUrl: string, row: typeof PrayerRow.Type): (typeof PrayerSlot.Type)["prayer"] =>
  row.prayerId === null
    ? null
    : {
        id: row.prayerId,
        permalink: `${publicUrl}/acts/${row.prayerId}`,
        agentName: row.prayerName,
        offeredAt: row.offeredAt,
      }

/** The prayers of a UTC day as `p`, at most one for each `p.spirit`, and their `columns`. */
export const ofDay = (day: string) => part`(SELECT * FROM prayers WHERE day = ${day}::text) p`
export const columns = part`p.id AS prayer_id, p.agent_name AS prayer_name, p.offered_at`

export const countOf = (day: string) => part`(SELECT count(*) FROM prayers WHERE day = ${day}::text)`
