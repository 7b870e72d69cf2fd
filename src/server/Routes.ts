/** All routes of a server, with and without a contract. */
import { fileURLToPath } from "node:url"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { documentAt } from "../../schema/Api.ts"
import * as AgentsHttp from "../agents/Http.ts"
import * as Artwork from "../altar/Artwork.ts"
import { handlers as altarHandlers } from "../altar/Http.ts"
import * as AltarRequests from "../altar/Requests.ts"
import * as LogFiles from "../log/Http.ts"
import * as Site from "../pages/Site.ts"
import * as Files from "../http/Files.ts"
import { cachedResponse } from "../http/CachedResponse.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as RoomHttp from "../room/Http.ts"
import * as RoomRequests from "../room/Requests.ts"
import * as HealthHttp from "./HealthHttp.ts"
import * as LogHttp from "./LogHttp.ts"

/** The routes of a contract without its handlers, the OpenAPI document, and the page that shows it. */
export const routesOf = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(contract),
    HttpRouter.use((router) =>
      Effect.gen(function* () {
        const publicUrl = yield* PublicUrl
        // Generated for the first request: it would take most of a start.
        const document = yield* Effect.cached(
          Effect.sync(() => cachedResponse(JSON.stringify(documentAt(contract, publicUrl)))),
        )
        yield* router.add("GET", "/openapi.json", (request) =>
          Effect.flatMap(document, ({ respond }) => respond(request)),
        )
      }),
    ),
    Site.docs(contract),
  )

export const handlers = Layer.mergeAll(
  ...altarHandlers,
  LogHttp.log,
  LogHttp.receipts,
  RoomHttp.handlers,
  HealthHttp.handlers,
)

/** How each service rejects requests that the contract cannot decode. */
export const requests = Layer.merge(AltarRequests.layer, RoomRequests.layer)

const artwork = Files.layer({
  root: fileURLToPath(Artwork.folder),
  prefix: Artwork.prefix,
  cacheControl: "public, max-age=86400",
}).pipe(Layer.provide(Site.compressed))

/** Routes without a contract: artwork, pages, documents for agents, and the files of the log. */
export const others = Layer.mergeAll(artwork, Site.layer, AgentsHttp.layer, LogFiles.layer)
