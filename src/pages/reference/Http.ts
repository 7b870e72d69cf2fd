/** `/docs`: the reference of whatever contract is served, made when it is first asked for. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { apiAt } from "../../../schema/Api.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { written } from "../../platform/http/Written.ts"
import * as Pages from "../Pages.ts"
import { read, referenceOf } from "./Operations.ts"
import { layout } from "../templates/Layout.ts"
import { page } from "./Page.ts"

export const layer = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const publicUrl = yield* PublicUrl
      const reference = yield* Effect.cached(
        Effect.suspend(() => read(OpenApi.fromApi(apiAt(contract, publicUrl)))).pipe(
          Effect.orDie,
          Effect.map((document) =>
            written(layout(publicUrl, page(publicUrl, referenceOf(document))), { contentType: Pages.contentType }),
          ),
        ),
      )
      return HttpRouter.add("GET", "/docs", (request) =>
        Pages.guarded(
          publicUrl,
          Effect.flatMap(reference, (kept) => kept.respond(request)),
        ),
      )
    }),
  )
