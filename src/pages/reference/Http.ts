/** `/docs` and `/docs/errors`: the reference of the served contract, rendered on the first request. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { documentAt } from "../../../schema/Api.ts"
import { errorsPath } from "../../../schema/Refusal.ts"
import { cachedResponse } from "../../http/CachedResponse.ts"
import { surroundings } from "../Frame.ts"
import * as Pages from "../Pages.ts"
import { layout, type Page } from "../templates/Layout.ts"
import { errorsPage } from "./Errors.ts"
import { type Reference, referenceOf } from "./Operations.ts"
import { referencePage } from "./Page.ts"

export const layer = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const frame = yield* surroundings
      const page = Pages.pagesOn(router, frame)
      const reference = yield* Effect.cached(Effect.suspend(() => referenceOf(documentAt(contract, frame.publicUrl))))
      const kept = (render: (reference: Reference) => Page) =>
        Effect.cached(
          Effect.map(reference, (content) =>
            cachedResponse(layout(frame, render(content)), { contentType: Pages.contentType }),
          ),
        )
      const docs = yield* kept((content) => referencePage(frame.publicUrl, content))
      const errors = yield* kept(errorsPage)
      yield* page("/docs", ({ request }) => Effect.flatMap(docs, (shown) => shown.respond(request)))
      yield* page(errorsPath, ({ request }) => Effect.flatMap(errors, (shown) => shown.respond(request)))
      yield* page(`${errorsPath}/:name`, ({ name }) => Effect.succeed(Pages.moved(`${errorsPath}#${name}`)))
    }),
  )
