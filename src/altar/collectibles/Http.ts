/** The routes of the catalogs and of the chain of publications. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { CompanionCatalog, ElementCatalog, PixelCatalog, PublicationSegment } from "../../../schema/altar/Catalog.ts"
import { segmentDefault, segmentFrom } from "../../../schema/Common.ts"
import { answer } from "../Answers.ts"
import { Catalogs } from "./Catalogs.ts"
import { PublicationChain } from "./PublicationChain.ts"

const elements = answer(ElementCatalog)
const companions = answer(CompanionCatalog)
const pixels = answer(PixelCatalog)
const segment = answer(PublicationSegment)

export const handlers = HttpApiBuilder.group(Api, "catalogs", (handlers) =>
  Effect.gen(function* () {
    const catalogs = yield* Catalogs
    const publications = yield* PublicationChain
    return handlers
      .handleRaw("listElements", ({ request }) =>
        catalogs.get("elements").pipe(Effect.flatMap((catalog) => elements(request, catalog))),
      )
      .handleRaw("listCompanions", ({ request }) =>
        catalogs.get("companions").pipe(Effect.flatMap((catalog) => companions(request, catalog))),
      )
      .handleRaw("listPixels", ({ request }) =>
        catalogs.get("pixels").pipe(Effect.flatMap((catalog) => pixels(request, catalog))),
      )
      .handleRaw("readPublicationChain", ({ query, request }) =>
        publications
          .segment(query.from ?? segmentFrom, query.limit ?? segmentDefault)
          .pipe(
            Effect.flatMap(({ anchor, head, links, next }) =>
              segment(request, { ok: true, anchor, entries: links, head, next }),
            ),
          ),
      )
  }),
)
