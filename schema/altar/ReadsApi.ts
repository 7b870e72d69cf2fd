/** The free reads of the altar. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { digits, upTo } from "../Bounds.ts"
import { ActAnswer } from "../payments/Act.ts"
import { CandleList } from "./Candle.ts"
import { CompanionCatalog, ElementCatalog, PixelCatalog, PublicationSegment } from "./Catalog.ts"
import { ListLimit, Uuid } from "../Common.ts"
import { AltarRequests, described, Unknown } from "../payments/Endpoint.ts"
import { ActNotFound } from "../payments/Act.ts"
import { ActList, AltarList, Field, SpiritList } from "./Guide.ts"
import { SpiritId } from "./Spirit.ts"

const before = Schema.optionalKey(Uuid).annotateKey({ description: "The `next` of the page before." })

const listActs = HttpApiEndpoint.get("listActs", "/api/acts", {
  query: { limit: Schema.optionalKey(ListLimit), before },
  success: ActList,
}).annotateMerge(described("listActs", "Newest acts", "Settled acts of every kind, newest first, with permalinks."))

const readAct = HttpApiEndpoint.get("readAct", "/api/acts/:actId", {
  params: { actId: Uuid },
  success: ActAnswer,
  error: ActNotFound,
})
  .annotateMerge(described("readAct", "One act", "A settled act of any kind with its record and receipt."))
  .annotate(Unknown, () => new ActNotFound({}))

const spirits = HttpApiEndpoint.get("spirits", "/api/spirits", { success: SpiritList }).annotateMerge(
  described("listSpirits", "The 24 spirits", "The field guide, with each spirit's keeper."),
)

const altars = HttpApiEndpoint.get("altars", "/api/altars", { success: AltarList }).annotateMerge(
  described("listAltars", "Every altar", "Today's prayer slot, the keeper and the lit candles of every altar."),
)

const field = HttpApiEndpoint.get("field", "/api/field", { success: Field }).annotateMerge(
  described("readField", "The state of the field", "Keepers, prayers today, cents settled, the last settlement."),
)

const candles = HttpApiEndpoint.get("candles", "/api/candles", {
  query: {
    spirit: Schema.optionalKey(SpiritId).annotateKey({ description: "Only candles on this spirit's altar." }),
    limit: Schema.optionalKey(ListLimit),
    before,
  },
  success: CandleList,
}).annotateMerge(described("listCandles", "Candles lit now", "Lit candles with their lights, the rungs and the rails."))

const elements = HttpApiEndpoint.get("elements", "/api/elements", { success: ElementCatalog }).annotateMerge(
  described("listElements", "Materials", "The catalog of materials with their editions."),
)
const companions = HttpApiEndpoint.get("companions", "/api/companions", { success: CompanionCatalog }).annotateMerge(
  described("listCompanions", "Crabs", "The catalog of crabs with their editions."),
)
const pixels = HttpApiEndpoint.get("pixels", "/api/pixels", { success: PixelCatalog }).annotateMerge(
  described("listPixels", "Pixels", "The catalog of the six pixels with their editions."),
)

const position = (description: string, maximum: number) =>
  Schema.optionalKey(digits(upTo(maximum)).annotate({ description }))

const publications = HttpApiEndpoint.get("publications", "/api/publish-chain", {
  query: {
    from: position("First sequence to return; 1 when absent.", Number.MAX_SAFE_INTEGER),
    limit: position("How many entries, 1 to 100; 50 when absent.", 100),
  },
  success: PublicationSegment,
}).annotateMerge(
  described(
    "readPublicationChain",
    "A segment of the publication chain",
    "Published manifests and acquired editions, each re-hashed before it is served.",
  ),
)

export class ReadsGroup extends HttpApiGroup.make("reads")
  .add(spirits, altars, field, candles, listActs, readAct, elements, companions, pixels, publications)
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Reads", description: "Everything that may be read for nothing." })) {}
