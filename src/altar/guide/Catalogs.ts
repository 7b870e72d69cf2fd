/** The three catalogs: issued, reserved and remaining always add up to the edition, because one query sees them together. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { CatalogItem, CatalogPayment, ElementCatalog, RecentEdition } from "../../../schema/altar/Catalog.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { PaidActs } from "../../payments/PaidAct.ts"
import { PaymentTerms } from "../../payments/PaymentTerms.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { poolOf } from "../collectibles/Collectibles.ts"
import { publisher, terms as collectionTerms } from "./Terms.ts"
import { type CatalogName, catalogs, type Item, Items } from "../collectibles/Items.ts"
import { spendPolicy } from "../SpendPolicy.ts"

/** What all catalogs have in common, and the items. */
type Catalog = Omit<typeof ElementCatalog.Type, "elements"> & { readonly items: ReadonlyArray<typeof CatalogItem.Type> }

interface Row {
  readonly elementId: string
  readonly taken: number | null
  readonly issued: bigint
  readonly recent: ReadonlyArray<typeof RecentEdition.Type> | null
}

const itemOf = (item: Item, row: Row | undefined): typeof CatalogItem.Type => {
  const issued = Number(row?.issued ?? 0n)
  const taken = Math.max(row?.taken ?? 0, issued)
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

const oneCent = priceUsd(collectMaterial.sale.priceAtomic)

export class Catalogs extends Context.Service<
  Catalogs,
  {
    /** A whole catalog; where it is answered, its items stand under the catalog's own name. */
    get(name: CatalogName): Effect.Effect<Catalog, SqlError.SqlError>
    readonly payment: typeof CatalogPayment.Type
  }
>()("spirit-altar/altar/guide/Catalogs") {
  static readonly layer = Layer.effect(
    Catalogs,
    Effect.gen(function* () {
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
        network: ready ? setting.terms.network : "eip155:8453",
        asset: "USDC",
        facilitator: ready ? setting.terms.settledBy : null,
        priceUsd: oneCent,
        recipientConfigured: ready || !missing.includes("PAY_TO"),
        missing,
        issues: missing.map((name) => `${name} is not set`),
        actionPriceUsd: oneCent,
        buyerSpendPolicy: spendPolicy(acts.values()),
      }

      const counts = (ids: ReadonlyArray<string>) =>
        sql<Row>`
          SELECT e.id AS element_id, p.highest - cardinality(p.released) AS taken,
            (SELECT count(*) FROM collectibles c WHERE c.element_id = e.id) AS issued,
            (SELECT json_agg(r) FROM (
              SELECT c.id, ${publicUrl}::text || '/acts/' || c.id AS permalink, c.element_id AS "elementId", c.edition,
                c.keeper, c.agent_name AS "agentName", c.collected_at AS "collectedAt"
              FROM collectibles c WHERE c.element_id = e.id ORDER BY c.edition DESC LIMIT 12) r) AS recent
          FROM unnest(${ids}::text[]) AS e(id)
          LEFT JOIN payment_pools p ON p.name = ${poolOf("")}::text || e.id`

      const get = Effect.fn("Catalogs.get")(function* (name: CatalogName) {
        const own = [...items.values()].filter((item) => item.catalog === name)
        const rows = yield* counts(own.map((item) => item.id))
        const found = new Map(rows.map((row) => [row.elementId, row]))
        const listed = own.map((item) => itemOf(item, found.get(item.id)))
        const recent = rows
          .flatMap((row) => row.recent ?? [])
          .map((edition) => ({ ...edition, collectedAt: new Date(edition.collectedAt).toISOString() }))
          .sort((a, b) => b.collectedAt.localeCompare(a.collectedAt) || b.id.localeCompare(a.id))
          .slice(0, 12)
        const { title } = catalogs[name]
        const catalog: Catalog = {
          ok: true,
          name: title,
          publisher,
          items: listed,
          totalEditionSize: listed.reduce((sum, item) => sum + item.editionSize, 0),
          priceUsd: oneCent,
          terms: collectionTerms(title, own[0]?.editionSize ?? 0),
          payment,
          collect: "/api/elements/{id}/collect",
          publicationChain: "/api/publish-chain",
          recent,
        }
        return catalog
      })

      return Catalogs.of({ get, payment })
    }),
  )
}
