/** The routes of the catalogs and of the publication chain. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { CompanionCatalog, ElementCatalog, PixelCatalog, PublicationSegment } from "../../../schema/altar/Catalog.ts"
import { segmentDefault, segmentFrom } from "../../../schema/Common.ts"
import { UrlCache } from "../../http/UrlCache.ts"
import { refuse } from "../../http/Responses.ts"
import { brokenIn, cachedAnswer, textOf } from "../Answers.ts"
import { Catalogs } from "./Catalogs.ts"
import type { Segment } from "../HashChain.ts"
import { type Entry, PublicationChain } from "./PublicationChain.ts"

const texts = {
  elements: textOf(ElementCatalog, (catalog: typeof ElementCatalog.Type) => catalog),
  companions: textOf(CompanionCatalog, (catalog: typeof CompanionCatalog.Type) => catalog),
  pixels: textOf(PixelCatalog, (catalog: typeof PixelCatalog.Type) => catalog),
  segment: textOf(PublicationSegment, ({ links, ...rest }: Segment<Entry>) => ({ ok: true, entries: links, ...rest })),
}

export const handlers = HttpApiBuilder.group(Api, "catalogs", (handlers) =>
  Effect.gen(function* () {
    const catalogs = yield* Catalogs
    const publications = yield* PublicationChain
    const elements = cachedAnswer(texts.elements)
    const companions = cachedAnswer(texts.companions)
    const pixels = cachedAnswer(texts.pixels)
    const segment = cachedAnswer(texts.segment)
    const read = (yield* UrlCache).hot(refuse)
    // Raw: cached bytes with their tag.
    return handlers
      .handleRaw(
        "listElements",
        read(() => (request) => elements(request, catalogs.get("elements"))),
      )
      .handleRaw(
        "listCompanions",
        read(() => (request) => companions(request, catalogs.get("companions"))),
      )
      .handleRaw(
        "listPixels",
        read(() => (request) => pixels(request, catalogs.get("pixels"))),
      )
      .handleRaw(
        "readPublicationChain",
        read(
          ({ query: { from = segmentFrom, limit = segmentDefault } }) =>
            (request) =>
              segment(request, Effect.catchTag(publications.segment(from, limit), "ChainBroken", brokenIn("entry"))),
        ),
      )
  }),
)
