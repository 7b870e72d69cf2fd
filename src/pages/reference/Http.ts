/** `/docs` and `/docs/errors`: the reference of the served contract, rendered on the first request. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { documentAt } from "../../../schema/Api.ts"
import { errorsPath } from "../../../schema/Refusal.ts"
import { cachedResponse } from "../../http/CachedResponse.ts"
import { Frame } from "../Frame.ts"
import * as Pages from "../Pages.ts"
import { layout, type Page } from "../templates/Layout.ts"
import { errorsPage } from "./Errors.ts"
import { type Reference, referenceOf } from "./Operations.ts"
import { referencePage } from "./Page.ts"

export const layer = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const frame = yield* Frame
      const reference = yield* Effect.cached(Effect.suspend(() => referenceOf(documentAt(contract, frame.publicUrl))))
      const route = Effect.fnUntraced(function* (path: `/${string}`, render: (reference: Reference) => Page) {
        const page = yield* Effect.cached(
          Effect.map(reference, (read) =>
            cachedResponse(layout(frame, render(read)), { contentType: Pages.contentType }),
          ),
        )
        return HttpRouter.add("GET", path, (request) =>
          Pages.guarded(
            frame,
            Effect.flatMap(page, (shown) => shown.respond(request)),
          ),
        )
      })
      return Layer.mergeAll(
        yield* route("/docs", (read) => referencePage(frame.publicUrl, read)),
        yield* route(errorsPath, errorsPage),
        HttpRouter.add("GET", `${errorsPath}/:code`, () =>
          Effect.map(HttpRouter.params, ({ code }) =>
            HttpServerResponse.redirect(`${errorsPath}#${code}`, { status: 308 }),
          ),
        ),
      )
    }),
  )
