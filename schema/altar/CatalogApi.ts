/** The routes of the catalogs and of the chain of publications. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Group } from "../Group.ts"
import { segmentQuery } from "../Common.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { CompanionCatalog, ElementCatalog, PixelCatalog, PublicationSegment } from "./Catalog.ts"
import { AltarRequests, described, readsChapter } from "./Requests.ts"

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
