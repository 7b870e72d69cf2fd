/** Collectibles: unique edition numbers up to a maximum, each recorded in the publication chain. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Collectible, collectMaterial, ElementNotFound, SoldOut } from "../../../schema/altar/Collectible.ts"
import { heldBy, paidAct } from "../../payments/Act.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { part } from "../../platform/Sql.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { Items } from "./Items.ts"
import { shownColumn } from "../Hidden.ts"
import { labelledElsewhere, actText, recordedAct } from "../ActText.ts"
import { PublicationChain } from "./PublicationChain.ts"

export const collecting = actText(Collectible, {
  sentence: ({ edition, name, spirit }) =>
    `collected ${name}, number ${edition}${spirit === "" ? "" : `, for ${spirit}`}`,
  labels: {
    ...labelledElsewhere,
    elementId: ["Item", "item"],
    name: null,
    kind: "Kind",
    edition: ["Edition", ({ edition, editionSize }) => `${edition} of ${editionSize}`],
    editionSize: null,
    spirit: ["Spirit", "spirit"],
    keeper: "Keeper",
    reason: null,
    collectedAt: ["Collected", "time"],
    publication: null,
  },
  hideable: { table: "collectibles", texts: { reason: "reason" } },
})

/** One row for each `spirit` with the number of editions `dedicated` to its altar. */
export const perSpirit = part`(SELECT spirit, count(*) AS dedicated FROM collectibles WHERE spirit IS NOT NULL GROUP BY spirit)`

export const poolOf = (elementId: string) => `edition:${elementId}`

const Dedicated = Schema.Struct({
  id: Schema.String,
  elementId: Schema.String,
  edition: Schema.Int,
  keeper: Schema.String,
  agentName: Schema.NullOr(Schema.String),
})
export type Dedicated = typeof Dedicated.Type

const dedicatedOf = rowsOf("collectibles", Dedicated)

export class Collectibles extends Context.Service<Collectibles>()("spirit-altar/altar/collectibles/Collectibles", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const items = yield* Items
    const publications = yield* PublicationChain
    const publicUrl = yield* PublicUrl

    const act = paidAct(collectMaterial, {
      targets: [...items.keys()],
      checkPath: ({ elementId }) => (items.has(String(elementId)) ? Effect.void : Effect.fail(new ElementNotFound({}))),
      claims: ({ elementId }) => ({
        slots: [],
        pool: { name: poolOf(elementId), capacity: items.get(elementId)?.editionSize ?? 0 },
      }),
      conflict: (conflict) => new SoldOut(heldBy(conflict)),
      record: Effect.fn("Collectibles.record")(function* (paid) {
        const editions = yield* Effect.forEach(paid, ({ id, input, number, payer, settledAt, transaction }) => {
          const item = items.get(input.elementId)
          return item === undefined || number === null
            ? Effect.die(`attempt ${id} holds no edition of ${input.elementId}`)
            : Effect.succeed({ id, input, item, number, payer, settledAt, transaction })
        })
        const published = yield* publications.append(
          editions.map(({ item, number, payer, settledAt, transaction }) => ({
            type: "edition",
            itemId: item.id,
            manifestHash: item.manifestHash,
            edition: number,
            keeper: payer,
            transaction,
            publishedAt: settledAt,
          })),
        )
        const records = editions.map(({ id, input, item, number, payer, settledAt, transaction }, index) => ({
          id,
          permalink: `${publicUrl}/acts/${id}`,
          elementId: item.id,
          name: item.name,
          kind: item.kind,
          edition: number,
          editionSize: item.editionSize,
          spirit: input.spirit ?? null,
          keeper: payer,
          agentName: input.agentName ?? null,
          reason: input.reason ?? null,
          collectedAt: settledAt,
          transaction,
          publication: {
            sequence: published[index]?.sequence ?? 0,
            chainHash: published[index]?.chainHash ?? "",
          },
        }))
        yield* sql`
          INSERT INTO collectibles (element_id, edition, id, spirit, keeper, agent_name, reason, collected_at)
          SELECT "elementId", edition, id, spirit, keeper, "agentName", reason, "collectedAt"
          FROM json_to_recordset(${JSON.stringify(records)}::json) AS r("elementId" text, edition int, id uuid,
            spirit text, keeper text, "agentName" text, reason text, "collectedAt" timestamptz)`
        return records.map((record) => recordedAct(record, record.collectedAt))
      }),
    })

    const dedicated = Effect.fn("Collectibles.dedicated")(function* (spirit: string, limit: number) {
      return yield* dedicatedOf(sql`
        SELECT id, element_id, edition, keeper, ${shownColumn("collectibles", "agent_name", "agentName")} AS agent_name
        FROM collectibles
        WHERE spirit = ${spirit}::text ORDER BY collected_at DESC, id DESC LIMIT ${limit}::int`)
    })

    return {
      act,
      /** Editions dedicated to a spirit's altar, newest first. */
      dedicated,
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
