/** First keepers: one permanent record for each spirit. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AlreadyKept, Keeper, KeeperSlotTaken, takeIn } from "../../../schema/altar/Keeper.ts"
import type { KeeperBrief } from "../../../schema/altar/Guide.ts"
import { paidAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { Moment } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"
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
  hideable: { table: "keepers", name: "agent_name", texts: { reason: "reason" } },
})

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

export class Keepers extends Context.Service<Keepers>()("spirit-altar/altar/keepers/Keepers", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl

    const act = paidAct(takeIn, {
      claims: ({ familiarId }) => ({ slots: [`keeper:${familiarId}`] }),
      conflict: (conflict) =>
        conflict._tag === "Slot" && conflict.settled ? new AlreadyKept({}) : new KeeperSlotTaken({}),
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
