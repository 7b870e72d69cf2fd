/** The catalogs of collectibles, and the chain that records what was published and who acquired it. */
import { Schema } from "effect"
import {
  Address,
  AgentName,
  AtomicAmount,
  Hex64,
  Network,
  PriceUsd,
  Timestamp,
  TransactionHash,
  Url,
  Uuid,
} from "./Common.ts"
import { ElementId, ItemKind } from "./Collectible.ts"
import { ChainHead } from "./Witness.ts"

/** Schema id of a publication manifest (altar.md, Versioning). */
export const manifestSchema = "service.pixel-publication.v1"

export const PublicationManifest = Schema.Struct({
  schema: Schema.Literal(manifestSchema),
  id: ElementId,
  name: Schema.String,
  description: Schema.String,
  collection: Schema.String,
  publisher: Schema.String,
  editionSize: Schema.Int,
  artwork: Schema.Struct({
    path: Schema.String,
    sha256: Hex64,
    mimeType: Schema.Literals(["image/png", "image/svg+xml"]),
    bytes: Schema.Int,
    width: Schema.Int,
    height: Schema.Int,
  }),
  terms: Schema.String,
}).annotate({
  identifier: "PublicationManifest",
  description: "What was published under a name; the artwork's figures are those of the file served.",
})

export const CatalogItem = Schema.Struct({
  id: ElementId,
  name: Schema.String,
  kind: ItemKind,
  color: Schema.String,
  image: Schema.String.annotate({ description: "Path of the artwork." }),
  description: Schema.String,
  altarLine: Schema.String,
  editionSize: Schema.Int,
  issued: Schema.Int,
  reserved: Schema.Int.annotate({ description: "Held by payments whose outcome is not known yet." }),
  remaining: Schema.Int,
  publicationManifest: PublicationManifest,
}).annotate({
  identifier: "CatalogItem",
  description: "An item with its editions: issued + reserved + remaining = editionSize, in every answer.",
})

export const SpendAction = Schema.Struct({
  action: Schema.String,
  route: Schema.String,
  priceUsd: PriceUsd,
  amountAtomic: AtomicAmount,
  days: Schema.optionalKey(Schema.Int),
}).annotate({ identifier: "SpendAction", description: "One paid action with its exact price." })

export const BuyerSpendPolicy = Schema.Struct({
  perPaymentMaximumUsd: PriceUsd,
  perPaymentMaximumScope: Schema.String,
  cumulativeSessionBudgetRequired: Schema.Boolean,
  cumulativeSessionBudget: Schema.String,
  rule: Schema.String,
  perAction: Schema.Array(SpendAction),
}).annotate({
  identifier: "BuyerSpendPolicy",
  description: "What a buyer's wallet may be asked for, action by action.",
})

export const CatalogPayment = Schema.Struct({
  enabled: Schema.Boolean,
  state: Schema.Literals(["ready", "not_configured"]),
  protocolVersion: Schema.Literal(2),
  scheme: Schema.Literal("exact"),
  network: Network,
  asset: Schema.Literal("USDC"),
  facilitator: Schema.NullOr(Schema.String),
  priceUsd: PriceUsd,
  recipientConfigured: Schema.Boolean,
  missing: Schema.Array(Schema.String),
  issues: Schema.Array(Schema.String),
  actionPriceUsd: PriceUsd,
  buyerSpendPolicy: BuyerSpendPolicy,
}).annotate({ identifier: "CatalogPayment", description: "How this server is paid, and whether it can be now." })

export const CatalogTerms = Schema.Struct({
  type: Schema.Literal("numbered application collectible"),
  collection: Schema.String,
  publisher: Schema.String,
  editionSize: Schema.Int,
  transferable: Schema.Boolean,
  onchainToken: Schema.Boolean,
  artwork: Schema.String,
  ownership: Schema.String,
  paymentProof: Schema.String,
  note: Schema.String,
}).annotate({ identifier: "CatalogTerms", description: "What a buyer gets, and what not." })

export const RecentEdition = Schema.Struct({
  id: Uuid,
  permalink: Url,
  elementId: ElementId,
  edition: Schema.Int,
  keeper: Address,
  agentName: Schema.NullOr(AgentName),
  collectedAt: Timestamp,
}).annotate({ identifier: "RecentEdition", description: "An edition acquired lately." })

/** A catalog whose items stand under its own name: `elements`, `companions` or `pixels`. */
export const catalogOf = <const Name extends string>(name: Name) => {
  const common = {
    ok: Schema.Literal(true),
    name: Schema.String,
    publisher: Schema.String,
    totalEditionSize: Schema.Int,
    priceUsd: PriceUsd,
    terms: CatalogTerms,
    payment: CatalogPayment,
    collect: Schema.String.annotate({ description: "Path template for collecting an item." }),
    publicationChain: Schema.String,
    recent: Schema.Array(RecentEdition),
  }
  return Schema.Struct({ ...common, ...Schema.Struct({ [name]: Schema.Array(CatalogItem) }).fields })
}

export const ElementCatalog = catalogOf("elements").annotate({
  identifier: "ElementCatalog",
  description: "The materials.",
})
export const CompanionCatalog = catalogOf("companions").annotate({
  identifier: "CompanionCatalog",
  description: "The crabs.",
})
export const PixelCatalog = catalogOf("pixels").annotate({
  identifier: "PixelCatalog",
  description: "The six pixels of 128 editions each.",
})

export const Publication = Schema.Struct({
  sequence: Schema.Int,
  type: Schema.Literals(["manifest", "edition"]),
  itemId: ElementId,
  manifestHash: Hex64.annotateKey({ description: "SHA-256 of the canonical JSON (RFC 8785) of the item's manifest." }),
  edition: Schema.NullOr(Schema.Int),
  keeper: Schema.NullOr(Address),
  transaction: Schema.NullOr(TransactionHash),
  publishedAt: Timestamp,
  previousHash: Hex64,
  chainHash: Hex64,
}).annotate({
  identifier: "Publication",
  description:
    "A published manifest or an acquired edition. chainHash = SHA-256 over previousHash, sequence, type, itemId, manifestHash, edition, keeper, transaction and publishedAt, joined by NUL; absent parts are empty.",
})

export const PublicationSegment = Schema.Struct({
  ok: Schema.Literal(true),
  anchor: ChainHead,
  entries: Schema.Array(Publication),
  head: ChainHead,
  next: Schema.NullOr(Schema.Int),
}).annotate({
  identifier: "PublicationSegment",
  description: "Consecutive publications, re-hashed by the server before it serves them.",
})
