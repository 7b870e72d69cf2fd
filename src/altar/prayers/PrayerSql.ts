/** What prayers let others read inside a statement of their own, so that a read stays one round trip. */
import { Schema } from "effect"
import type { PrayerSlot } from "../../../schema/altar/Guide.ts"
import { Moment } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"

/** `columns` of an altar; all null while no prayer lies there. */
export const PrayerRow = Schema.Union([
  Schema.Struct({ prayerId: Schema.Null }),
  Schema.Struct({ prayerId: Schema.String, prayerName: Schema.String, offeredAt: Moment }),
])

/** The prayer of a slot, as it is shown. */
export const prayerOf = (publicUrl: string, row: typeof PrayerRow.Type): (typeof PrayerSlot.Type)["prayer"] =>
  row.prayerId === null
    ? null
    : {
        id: row.prayerId,
        permalink: `${publicUrl}/acts/${row.prayerId}`,
        agentName: row.prayerName,
        offeredAt: row.offeredAt,
      }

/** The prayers of a UTC day as `p`, one for each `p.spirit` at most; `columns` are of them. */
export const ofDay = (day: string) => part`(SELECT * FROM prayers WHERE day = ${day}::text) p`
export const columns = part`p.id AS prayer_id, p.agent_name AS prayer_name, p.offered_at`

export const countOf = (day: string) => part`(SELECT count(*) FROM prayers WHERE day = ${day}::text)`

/** The newest prayers with a spirit, by id: a day has one, so the days are walked from the last. */
export const newestOn = (spirit: string, limit: number) =>
  part`(SELECT id FROM prayers WHERE spirit = ${spirit}::text ORDER BY day DESC LIMIT ${limit}::int)`
