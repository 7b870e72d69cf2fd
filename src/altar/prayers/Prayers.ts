/** Prayers: one for each spirit and UTC day; a slot held over midnight keeps its day. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CommitmentRefused } from "../../../schema/altar/Commitment.ts"
import { zeroCommitment } from "../../../schema/altar/Recipe.ts"
import {
  offerPrayer,
  Prayer,
  PrayerAlreadyRecorded,
  PrayerDayNotToday,
  PrayerSlotTaken,
} from "../../../schema/altar/Prayer.ts"
import { heldBy, paidAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { instant, part } from "../../platform/Sql.ts"
import { spirits } from "../Spirits.ts"
import { shownColumn } from "../Hidden.ts"
import { labelledElsewhere, actText, recordedAct } from "../ActText.ts"

/** The spirit's answer: one of its own lines, always the same for the same commitment. */
export const lineFor = (spirit: string, commitment: string): string => {
  const lines = spirits.find(({ id }) => id === spirit)?.lines ?? []
  return lines[Number(BigInt(`0x${commitment}`) % BigInt(Math.max(1, lines.length)))] ?? ""
}

export const praying = actText(Prayer, {
  sentence: ({ spirit }) => `left a prayer for ${spirit}`,
  labels: {
    ...labelledElsewhere,
    spirit: ["Spirit", "spirit"],
    day: "Day",
    intentionCommitment: "Commitment",
    offeredAt: ["Left", "time"],
  },
  answer: ({ intentionCommitment, spirit }) => lineFor(spirit, intentionCommitment),
  hideable: { table: "prayers", texts: {} },
})

/** The claim to the one prayer of a spirit and UTC day. */
export const slotOf = (spirit: string, day: string) => `prayer:${spirit}:${day}`

/** The prayer of a `PrayerSlot` from a prayer `p`; null without one. */
export const brief = (publicUrl: string) => part`CASE WHEN p.id IS NOT NULL THEN json_build_object('id', p.id,
  'permalink', ${publicUrl}::text || '/acts/' || p.id, 'agentName', ${shownColumn("p", "agent_name", "agentName")}, 'offeredAt', ${instant("p.offered_at")}) END`

export const countOf = (day: string) => part`(SELECT count(*) FROM prayers WHERE day = ${day}::text)`

export class Prayers extends Context.Service<Prayers>()("spirit-altar/altar/prayers/Prayers", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl

    const act = paidAct(offerPrayer, {
      refuse: Effect.fn("Prayers.refuse")(function* (input, { day }) {
        if (input.intentionCommitment === zeroCommitment) return yield* new CommitmentRefused({})
        if (input.day !== undefined && input.day !== day) return yield* new PrayerDayNotToday({})
      }),
      claims: ({ familiarId }, { day }) => ({ slots: [slotOf(familiarId, day)] }),
      conflict: (conflict) =>
        conflict._tag === "Slot" && conflict.settled
          ? new PrayerAlreadyRecorded({})
          : new PrayerSlotTaken(heldBy(conflict)),
      record: Effect.fn("Prayers.record")(function* (paid) {
        const prayers = paid.map(({ acceptedAt, id, input, payer, settledAt, transaction }) => ({
          id,
          permalink: `${publicUrl}/acts/${id}`,
          spirit: input.familiarId,
          day: acceptedAt.slice(0, 10),
          agentName: input.agentName,
          intentionCommitment: input.intentionCommitment,
          offeredAt: settledAt,
          payer,
          transaction,
        }))
        yield* sql`
          INSERT INTO prayers (id, spirit, day, agent_name, commitment, offered_at)
          SELECT id, spirit, day, "agentName", "intentionCommitment", "offeredAt"
          FROM json_to_recordset(${JSON.stringify(prayers)}::json) AS r(id uuid, spirit text, day text,
            "agentName" text, "intentionCommitment" text, "offeredAt" timestamptz)`
        return prayers.map((record) => ({
          ...recordedAct(record, record.offeredAt),
          extra: { line: lineFor(record.spirit, record.intentionCommitment) },
        }))
      }),
    })

    return { act }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
