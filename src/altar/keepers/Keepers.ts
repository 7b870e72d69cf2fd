/** First keepers: one permanent record for each spirit. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AlreadyKept, Keeper, KeeperSlotTaken, takeIn } from "../../../schema/altar/Keeper.ts"
import { heldBy, paidAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { instant, part } from "../../platform/Sql.ts"
import { shownColumn } from "../Hidden.ts"
import { labelledElsewhere, actText, recordedAct } from "../ActText.ts"

export const keeping = actText(Keeper, {
  sentence: ({ spirit }) => `became the first keeper of ${spirit}`,
  labels: {
    ...labelledElsewhere,
    spirit: ["Spirit", "spirit"],
    keeper: "Keeper",
    reason: null,
    keptAt: ["Kept since", "time"],
  },
  hideable: { table: "keepers", texts: { reason: "reason" } },
})

/** The `KeeperBrief` of a keeper `k`; null without one. */
export const brief = (publicUrl: string) => part`CASE WHEN k.id IS NOT NULL THEN json_build_object('id', k.id,
  'permalink', ${publicUrl}::text || '/acts/' || k.id, 'keeper', k.keeper, 'agentName', ${shownColumn("k", "agent_name", "agentName")},
  'keptAt', ${instant("k.kept_at")}) END`

export const count = part`(SELECT count(*) FROM keepers)`

export class Keepers extends Context.Service<Keepers>()("spirit-altar/altar/keepers/Keepers", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl

    const act = paidAct(takeIn, {
      claims: ({ familiarId }) => ({ slots: [`keeper:${familiarId}`] }),
      conflict: (conflict) =>
        conflict._tag === "Slot" && conflict.settled ? new AlreadyKept({}) : new KeeperSlotTaken(heldBy(conflict)),
      record: Effect.fn("Keepers.record")(function* (paid) {
        const keepers = paid.map(({ id, input, payer, settledAt, transaction }) => ({
          id,
          permalink: `${publicUrl}/acts/${id}`,
          spirit: input.familiarId,
          keeper: payer,
          agentName: input.agentName ?? null,
          reason: input.reason ?? null,
          keptAt: settledAt,
          transaction,
        }))
        yield* sql`
          INSERT INTO keepers (spirit, id, keeper, agent_name, reason, kept_at)
          SELECT spirit, id, keeper, "agentName", reason, "keptAt"
          FROM json_to_recordset(${JSON.stringify(keepers)}::json) AS r(spirit text, id uuid, keeper text,
            "agentName" text, reason text, "keptAt" timestamptz)`
        return keepers.map((record) => recordedAct(record, record.keptAt))
      }),
    })

    return { act }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
