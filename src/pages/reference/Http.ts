/** `/docs` and `/docs.md`: the reference of the served contract, rendered on the first request. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { apiAt } from "../../../schema/Api.ts"
import { cachedResponse } from "../../http/CachedResponse.ts"
import { Frame } from "../Frame.ts"
import * as Pages from "../Pages.ts"
import { read, referenceOf } from "./Operations.ts"
import { layout } from "../templates/Layout.ts"
import { markdown } from "./Markdown.ts"
import { page } from "./Page.ts"

export const layer = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const frame = yield* Frame
      const { publicUrl } = frame
      const reference = yield* Effect.cached(
        Effect.suspend(() => read(OpenApi.fromApi(apiAt(contract, publicUrl)))).pipe(
          Effect.orDie,
          Effect.map(referenceOf),
          Effect.map((read) => ({
            page: cachedResponse(layout(frame, page(publicUrl, read)), { contentType: Pages.contentType }),
            markdown: cachedResponse(markdown(publicUrl, read), { contentType: "text/markdown; charset=utf-8" }),
          })),
        ),
      )
      const route = (path: `/${string}`, kind: "page" | "markdown") =>
        HttpRouter.add("GET", path, (request) =>
          Pages.guarded(
            frame,
            Effect.flatMap(reference, (kept) => kept[kind].respond(request)),
          ),
        )
      return Layer.mergeAll(route("/docs", "page"), route("/docs.md", "markdown"))
    }),
  )
