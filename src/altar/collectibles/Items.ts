/** All collectible items with their publication manifests, whose hashes enter the publication chain. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Context, Effect, Layer } from "effect"
import { type CatalogTerms, manifestSchema, type PublicationManifest } from "../../../schema/altar/Catalog.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import * as Artwork from "../Artwork.ts"
import { sha256 } from "../Hashes.ts"
import texts from "./items.json" with { type: "json" }

/** A collectible as the field guide describes it; counts of issued editions are elsewhere. */
interface ItemEntry {
  /** Matches `^[a-z0-9-]+$`; unique across all three catalogs, because they share one collect route. */
  readonly id: string
  readonly name: string
  readonly color: string
  readonly description: string
  readonly altarLine: string
}

export type CatalogName = "elements" | "companions" | "pixels"

interface Collection {
  /** The catalog's name for people. */
  readonly title: string
  readonly kind: "material" | "crab" | "pixel"
  /** The number of editions there will ever be of each item. */
  readonly editionSize: number
  readonly entries: ReadonlyArray<ItemEntry>
  /** The file extension of its artwork. */
  readonly ending: string
}

export interface Item extends ItemEntry, Pick<Collection, "kind" | "editionSize"> {
  readonly catalog: CatalogName
  readonly image: string
  readonly manifest: typeof PublicationManifest.Type
  /** SHA-256 of the manifest's canonical JSON. */
  readonly manifestHash: string
}

export const catalogs: Readonly<Record<CatalogName, Collection>> = {
  elements: { title: "Materials", kind: "material", editionSize: 256, entries: texts.elements, ending: "svg" },
  companions: { title: "Crabs", kind: "crab", editionSize: 64, entries: texts.companions, ending: "svg" },
  pixels: { title: "Pixels", kind: "pixel", editionSize: 128, entries: texts.pixels, ending: "png" },
}

export const publisher = "Spirit Altar"

/** The `terms` of a catalog; `editionSize` is the number of editions of each item. */
export const terms = (collection: string, editionSize: number): typeof CatalogTerms.Type => ({
  type: "numbered application collectible",
  collection,
  publisher,
  editionSize,
  transferable: false,
  onchainToken: false,
  artwork:
    `All ${editionSize} editions of an item share the same artwork. ` +
    "They differ only in their number. Copyright in the artwork is not transferred.",
  ownership:
    "Each edition that is acquired has its own numbered keeper record on this site. " +
    "The recorded keeper is the wallet that was verified as the payer. " +
    "Agent names are stated by the agents themselves and are not checked. " +
    "A keeper record cannot be transferred.",
  paymentProof:
    "The payment receipt proves who paid and how much. " +
    "It does not bind the buyer to an artwork; which edition a payment bought is recorded in the publication chain.",
  note:
    "An edition is a record kept by this site. It is not an on-chain token, " +
    "has no resale route and no financial return, and does nothing on its own.",
})

/** The `terms` text of an item's publication manifest. It is hashed, so a change is a new publication. */
const manifestTerms = (name: string, editionSize: number): string =>
  `${name} is published by ${publisher} in ${editionSize} numbered editions that share this artwork. ` +
  "Each acquired edition is a keeper record on this site under the wallet verified as the payer; " +
  "names given by agents are not checked. " +
  "The record is nontransferable and is not an on-chain token. " +
  "No copyright, resale route, financial return or autonomous behaviour comes with it. " +
  "The payment receipt proves payer and amount; the publication chain records which edition it paid for."

const itemOf = Effect.fnUntraced(function* (catalog: CatalogName, entry: ItemEntry) {
  const { editionSize, ending, kind, title } = catalogs[catalog]
  const artwork = yield* Artwork.load(`${catalog}/${entry.id}.${ending}`)
  const manifest: Item["manifest"] = {
    schema: manifestSchema,
    id: entry.id,
    name: entry.name,
    description: entry.description,
    collection: title,
    publisher,
    editionSize,
    artwork,
    terms: manifestTerms(entry.name, editionSize),
  }
  const hash = sha256(canonicalJson(manifest))
  return { ...entry, kind, editionSize, catalog, image: artwork.path, manifest, manifestHash: hash } satisfies Item
})

const names: ReadonlyArray<CatalogName> = ["elements", "companions", "pixels"]

/** Items by id, in the order of the catalogs. */
export class Items extends Context.Service<Items, ReadonlyMap<string, Item>>()(
  "spirit-altar/altar/collectibles/Items",
) {
  static readonly layer = Layer.effect(
    Items,
    Effect.gen(function* () {
      const items = yield* Effect.forEach(names, (name) =>
        Effect.forEach(catalogs[name].entries, (entry) => itemOf(name, entry)),
      )
      return new Map(items.flat().map((item) => [item.id, item]))
    }),
  ).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
}
