/** The routes of the catalogs and of the chain of publications. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { CompanionCatalog, ElementCatalog, PixelCatalog, PublicationSegment } from "../../../schema/altar/Catalog.ts"
import { segmentDefault, segmentFrom } from "../../../schema/Common.ts"
import { answer } from "../Answers.ts"
import { Catalogs } from "../guide/Catalogs.ts"
import { PublicationChain } from "../guide/PublicationChain.ts"

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
        catalogs.get("elements").pipe(
          Effect.map(({ items, name, ok, publisher, ...rest }) =>
            elements(request, { ok, name, publisher, elements: items, ...rest }),
          ),
          Effect.orDie,
        ),
      )
      .handleRaw("listCompanions", ({ request }) =>
        catalogs.get("companions").pipe(
          Effect.map(({ items, name, ok, publisher, ...rest }) =>
            companions(request, { ok, name, publisher, companions: items, ...rest }),
          ),
          Effect.orDie,
        ),
      )
      .handleRaw("listPixels", ({ request }) =>
        catalogs.get("pixels").pipe(
          Effect.map(({ items, name, ok, publisher, ...rest }) =>
            pixels(request, { ok, name, publisher, pixels: items, ...rest }),
          ),
          Effect.orDie,
        ),
      )
      .handleRaw("readPublicationChain", ({ query, request }) =>
        publications.segment(query.from ?? segmentFrom, query.limit ?? segmentDefault).pipe(
          Effect.map(({ anchor, head, links, next }) =>
            segment(request, { ok: true, anchor, entries: links, head, next }),
          ),
          Effect.orDie,
        ),
      )
  }),
)
