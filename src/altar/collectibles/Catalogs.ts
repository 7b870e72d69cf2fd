/** The three catalogs. One query reads issued, reserved and remaining, so that they always add up to the edition. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type CatalogItem,
  type CatalogPayment,
  type CompanionCatalog,
  type ElementCatalog,
  type PixelCatalog,
  readPublicationChain,
  RecentEdition,
} from "../../../schema/altar/Catalog.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { base } from "../../../schema/payments/Usdc.ts"
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { PaidActs } from "../../payments/Act.ts"
import * as Ledger from "../../payments/store/LedgerSql.ts"
import { PaymentTerms } from "../../payments/PaymentTerms.ts"
import * as CachedReads from "../../platform/CachedReads.ts"
import { rowsOf, Whole } from "../../platform/Rows.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { poolOf } from "./Collectibles.ts"
import { type CatalogName, catalogs, type Item, Items, publisher, terms as collectionTerms } from "./Items.ts"
import { shownColumn } from "../Hidden.ts"
import { instant } from "../../platform/Sql.ts"
import { spendPolicy } from "../SpendPolicy.ts"

const CountRow = Schema.Struct({
  elementId: Schema.String,
  /** Drawn numbers, issued or held; null while none was drawn. */
  taken: Schema.NullOr(Schema.Int),
  issued: Whole,
  recent: Schema.NullOr(Schema.Array(RecentEdition)),
})
type CountRow = typeof CountRow.Type

const countsOf = rowsOf("collectibles", CountRow)

const itemOf = (item: Item, row: CountRow): typeof CatalogItem.Type => {
  const { issued } = row
  const taken = Math.max(row.taken ?? 0, issued)
  const { altarLine, color, description, editionSize, id, image, kind, manifest, name } = item
  return {
    id,
    name,
    kind,
    color,
    image,
    description,
    altarLine,
    editionSize,
    issued,
    reserved: taken - issued,
    remaining: editionSize - taken,
    publicationManifest: manifest,
  }
}

/** Any catalog: its items stand under the member of each, and its schema writes its own. */
export type AnyCatalog = typeof ElementCatalog.Type & typeof CompanionCatalog.Type & typeof PixelCatalog.Type

const editionPrice = priceUsd(collectMaterial.sale.priceAtomic)

export class Catalogs extends Context.Service<Catalogs>()("spirit-altar/altar/collectibles/Catalogs", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const items = yield* Items
    const acts = yield* PaidActs
    const setting = yield* PaymentTerms
    const publicUrl = yield* PublicUrl

    const ready = setting._tag === "Ready"
    const missing = ready ? [] : setting.missing
    const payment: typeof CatalogPayment.Type = {
      enabled: ready,
      state: ready ? "ready" : "not_configured",
      protocolVersion: 2,
      scheme: "exact",
      network: ready ? setting.terms.network : base,
      asset: "USDC",
      facilitator: ready ? setting.terms.settledBy : null,
      priceUsd: editionPrice,
      recipientConfigured: ready || !missing.includes("PAY_TO"),
      missing,
      issues: missing.map((name) => `${name} is not set`),
      actionPriceUsd: editionPrice,
      buyerSpendPolicy: spendPolicy(acts.values()),
    }

    const ownItems = (name: CatalogName) => [...items.values()].filter((item) => item.catalog === name)

    const counts = (name: CatalogName) => sql`
        SELECT e.id AS element_id, ${Ledger.drawn(sql`${poolOf("")}::text || e.id`)} AS taken,
          (SELECT count(*) FROM collectibles c WHERE c.element_id = e.id) AS issued,
          (SELECT json_agg(r) FROM (
            SELECT c.id, ${publicUrl}::text || '/acts/' || c.id AS permalink, c.element_id AS "elementId", c.edition,
              c.keeper, ${shownColumn("c", "agent_name", "agentName")} AS "agentName", ${instant("c.collected_at")} AS "collectedAt"
            FROM collectibles c WHERE c.element_id = e.id ORDER BY c.collected_at DESC, c.id DESC LIMIT 12) r) AS recent
        FROM unnest(${ownItems(name).map((item) => item.id)}::text[]) AS e(id)`

    const listedOf = (rows: ReadonlyArray<CountRow>, name: CatalogName) => {
      const counts = new Map(rows.map((row) => [row.elementId, row]))
      return Effect.forEach(ownItems(name), (item) => {
        const row = counts.get(item.id)
        return row === undefined ? Effect.die(`${item.id} was not counted`) : Effect.succeed(itemOf(item, row))
      })
    }

    const catalogOf = Effect.fnUntraced(function* (stored: ReadonlyArray<unknown>, name: CatalogName) {
      const rows = yield* countsOf(Effect.succeed(stored))
      const listed = yield* listedOf(rows, name)
      const { editionSize, title } = catalogs[name]
      const catalog: AnyCatalog = {
        ok: true,
        name: title,
        publisher,
        elements: listed,
        companions: listed,
        pixels: listed,
        totalEditionSize: listed.length * editionSize,
        priceUsd: editionPrice,
        terms: collectionTerms(title, editionSize),
        payment,
        collect: collectMaterial.sale.route.slice("POST ".length),
        publicationChain: readPublicationChain.path,
        recent: rows
          .flatMap((row) => row.recent ?? [])
          .sort((a, b) => b.collectedAt.localeCompare(a.collectedAt) || b.id.localeCompare(a.id))
          .slice(0, 12),
      }
      return catalog
    })

    const get = yield* CachedReads.make({
      nameOf: (name: CatalogName) => name,
      statement: (name) => counts(name),
      make: catalogOf,
    })

    const itemsOf = Effect.fn("Catalogs.items")(function* (name: CatalogName) {
      return yield* listedOf(yield* countsOf(counts(name)), name)
    })

    return { get, items: itemsOf, payment }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
