/** The catalogs of collectibles, and the chain of publications and acquisitions. */
import { Schema } from "effect"
import { Count, listOf, path, patterned, Position, sentence, upTo } from "../Fields.ts"
import {
  Address,
  AgentName,
  AtomicAmount,
  Hex64,
  Network,
  PriceUsd,
  segmentMaximum,
  segmentQuery,
  Timestamp,
  TransactionHash,
  Url,
  Uuid,
} from "../Common.ts"
import { ElementId, ItemKind } from "./Collectible.ts"
import { ChainHead } from "./Witness.ts"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type Group } from "../Group.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { AltarRequests, described, readsChapter } from "./Requests.ts"

/** Schema id of a publication manifest. Manifests are hashed, so changed fields need a new id. */
export const manifestSchema = "service.pixel-publication.v1"

export const PublicationManifest = Schema.Struct({
  schema: Schema.Literal(manifestSchema),
  id: ElementId,
  name: sentence("Beeswax"),
  description: sentence("A cake of wax, still warm at the middle."),
  collection: sentence("Materials"),
  publisher: sentence("Spirit Altar"),
  editionSize: Position.annotateKey({ examples: [128] }),
  artwork: Schema.Struct({
    path: path("/images/elements/beeswax.svg"),
    sha256: Hex64,
    mimeType: Schema.Literals(["image/png", "image/svg+xml"]),
    bytes: Count.annotateKey({ examples: [18_211] }),
    width: upTo(100_000).annotate({ examples: [512] }),
    height: upTo(100_000).annotate({ examples: [512] }),
  }),
  terms: sentence("Published in numbered editions that share this artwork.", 2000),
}).annotate({
  identifier: "PublicationManifest",
  description: "The publication under a name; the artwork's figures are those of the file served.",
})

export const CatalogItem = Schema.Struct({
  id: ElementId,
  name: sentence("Beeswax"),
  kind: ItemKind,
  color: patterned(/^#[0-9A-Fa-f]{6}$/u, 7).annotate({ examples: ["#d9a441"] }),
  image: path("/images/elements/beeswax.svg").annotate({ description: "Path of the artwork." }),
  description: sentence("A cake of wax, still warm at the middle."),
  altarLine: sentence("Set down where the sun reaches it."),
  editionSize: Position.annotateKey({ examples: [128] }),
  issued: Count.annotateKey({ examples: [3] }),
  reserved: Count.annotateKey({ examples: [1], description: "Held by payments in flight." }),
  remaining: Count.annotateKey({ examples: [124] }),
  publicationManifest: PublicationManifest,
}).annotate({
  identifier: "CatalogItem",
  description: "An item with its editions: issued + reserved + remaining = editionSize, in every answer.",
})

export const SpendAction = Schema.Struct({
  action: sentence("setWitnessStone"),
  route: sentence("POST /api/witness"),
  priceUsd: PriceUsd,
  amountAtomic: AtomicAmount,
  days: Schema.optionalKey(upTo(30)),
}).annotate({ identifier: "SpendAction", description: "One paid action with its exact price." })

export const BuyerSpendPolicy = Schema.Struct({
  perPaymentMaximumUsd: PriceUsd,
  perPaymentMaximumScope: sentence("Every one-cent act."),
  cumulativeSessionBudgetRequired: Schema.Boolean,
  cumulativeSessionBudget: sentence("Set by the operator of the buying agent."),
  rule: sentence("Sign exactly the listed atomic amount for a route and refuse any other."),
  perAction: listOf(SpendAction, 20),
}).annotate({
  identifier: "BuyerSpendPolicy",
  description: "The payments that this server may ask of a buyer's wallet, for each action.",
})

export const CatalogPayment = Schema.Struct({
  enabled: Schema.Boolean,
  state: Schema.Literals(["ready", "not_configured"]),
  protocolVersion: Schema.Literal(2),
  scheme: Schema.Literal("exact"),
  network: Network,
  asset: Schema.Literal("USDC"),
  facilitator: Schema.NullOr(sentence("self-settled by a relayer")),
  priceUsd: PriceUsd,
  recipientConfigured: Schema.Boolean,
  missing: listOf(sentence("PAY_TO"), 20),
  issues: listOf(sentence("PAY_TO is not set"), 20),
  actionPriceUsd: PriceUsd,
  buyerSpendPolicy: BuyerSpendPolicy,
}).annotate({ identifier: "CatalogPayment", description: "How this server is paid, and whether it can be paid now." })

export const CatalogTerms = Schema.Struct({
  type: Schema.Literal("numbered application collectible"),
  collection: sentence("Materials"),
  publisher: sentence("Spirit Altar"),
  editionSize: Position,
  transferable: Schema.Boolean,
  onchainToken: Schema.Boolean,
  artwork: sentence("All editions of an item share the same artwork."),
  ownership: sentence("The recorded keeper is the wallet that was verified as the payer."),
  paymentProof: sentence("The payment receipt proves who paid and how much."),
  note: sentence("An edition is a record kept by this site. It is not an on-chain token."),
}).annotate({ identifier: "CatalogTerms", description: "The rights that a buyer gets and does not get." })

export const RecentEdition = Schema.Struct({
  id: Uuid,
  permalink: Url,
  elementId: ElementId,
  edition: Position,
  keeper: Address,
  agentName: Schema.NullOr(AgentName),
  collectedAt: Timestamp,
}).annotate({ identifier: "RecentEdition", description: "A recently acquired edition." })

const items = listOf(CatalogItem, 50)

const catalog = {
  ok: Schema.Literal(true),
  name: sentence("Materials"),
  publisher: sentence("Spirit Altar"),
  totalEditionSize: Position,
  priceUsd: PriceUsd,
  terms: CatalogTerms,
  payment: CatalogPayment,
  collect: path("/api/elements/{id}/collect").annotate({
    description: "Path template for collecting an item.",
  }),
  publicationChain: path("/api/publish-chain"),
  recent: listOf(RecentEdition, 12),
}

export const ElementCatalog = Schema.Struct({ ...catalog, elements: items }).annotate({
  identifier: "ElementCatalog",
  description: "The materials.",
})
export const CompanionCatalog = Schema.Struct({ ...catalog, companions: items }).annotate({
  identifier: "CompanionCatalog",
  description: "The crabs.",
})
export const PixelCatalog = Schema.Struct({ ...catalog, pixels: items }).annotate({
  identifier: "PixelCatalog",
  description: "The six pixels of 128 editions each.",
})

export const Publication = Schema.Struct({
  sequence: Position,
  type: Schema.Literals(["manifest", "edition"]),
  itemId: ElementId,
  manifestHash: Hex64.annotateKey({ description: "SHA-256 of the canonical JSON (RFC 8785) of the item's manifest." }),
  edition: Schema.NullOr(Position),
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
  entries: listOf(Publication, segmentMaximum),
  head: ChainHead,
  next: Schema.NullOr(Position),
}).annotate({
  identifier: "PublicationSegment",
  description: "Consecutive publications, re-hashed by the server before it serves them.",
})

export const listElements = HttpApiEndpoint.get("listElements", "/api/elements", {
  success: ElementCatalog,
}).annotateMerge(described("Materials", "The catalog of materials with their editions."))

export const listCompanions = HttpApiEndpoint.get("listCompanions", "/api/companions", {
  success: CompanionCatalog,
}).annotateMerge(described("Crabs", "The catalog of crabs with their editions."))

export const listPixels = HttpApiEndpoint.get("listPixels", "/api/pixels", { success: PixelCatalog }).annotateMerge(
  described("Pixels", "The catalog of the six pixels with their editions."),
)

export const readPublicationChain = HttpApiEndpoint.get("readPublicationChain", "/api/publish-chain", {
  query: segmentQuery("entries"),
  success: PublicationSegment,
  error: BrokenChain,
}).annotateMerge(
  described(
    "A segment of the publication chain",
    "Published manifests and acquired editions, each re-hashed before it is served.",
  ),
)

export const CatalogsGroup: Group<
  "catalogs",
  typeof listElements | typeof listCompanions | typeof listPixels | typeof readPublicationChain,
  AltarRequests
> = HttpApiGroup.make("catalogs")
  .add(listElements, listCompanions, listPixels, readPublicationChain)
  .middleware(AltarRequests)
  .annotateMerge(readsChapter)
