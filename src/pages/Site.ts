/** The site: static files under a strict content policy, the entry pages, and the reference of the API. */
import { fileURLToPath } from "node:url"
import { Effect, identity, Layer } from "effect"
import { HttpMiddleware, HttpPlatform, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { isForEver } from "../platform/AssetNames.ts"
import { preferred } from "../http/Accept.ts"
import * as Files from "../http/Files.ts"
import { inert, ours } from "../http/SecurityHeaders.ts"
import { packageRoot } from "../platform/PackageRoot.ts"
import * as Feed from "./Feed.ts"
import { type Surroundings, surroundings } from "./Frame.ts"
import * as Guide from "./Guide.ts"
import * as Pages from "./Pages.ts"
import * as Permalinks from "./Permalinks.ts"
import * as Pictures from "./pictures/Pictures.ts"
import * as Reference from "./reference/Http.ts"

/** The output of `src/web/build.ts`. */
const root = fileURLToPath(new URL("dist/web/", packageRoot))

const isInert = ({ body, headers }: HttpServerResponse.HttpServerResponse) =>
  /^(?:text\/(?:css|javascript)|font\/)/u.test(
    headers["content-type"] ?? (body._tag === "Empty" ? "" : (body.contentType ?? "")),
  )

const guarded = HttpRouter.middleware((httpEffect) =>
  Effect.map(httpEffect, (response) =>
    HttpServerResponse.setHeader(response, "content-security-policy", isInert(response) ? inert : ours),
  ),
).layer

const isPixel = /^[^?]*\/art\/pixels\//u

/** Level 6 takes a quarter more time than the usual 4 for pages and styles, and is a tenth smaller. */
const texts = HttpMiddleware.compression({ levels: { br: 6 } })

/** A pixel's PNG is uncompressed inside, because its hash is published; it is compressed in transit. */
const pixels = HttpMiddleware.compression({ compressible: () => true })

/** Compresses pages, styles and modules, unless the client asks for no encoding. */
export const compressed = HttpRouter.middleware(
  Effect.map(
    HttpPlatform.HttpPlatform,
    (platform) => (httpEffect) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ originalUrl }) =>
        Effect.provideService(
          (isPixel.test(originalUrl) ? pixels : texts)(httpEffect),
          HttpPlatform.HttpPlatform,
          platform,
        ),
      ),
  ),
).layer

/** A year, the maximum lifetime in caches (RFC 9111 §5.2.2). */
const forEver = "public, max-age=31536000, immutable"

/** Paths of programs: some probe them with the headers of a browser, and read JSON alone. */
const isForPrograms = /^\/(?:api|mcp|\.well-known)\//u

/** A 404 for a person is a page; for a program it stays the JSON refusal. */
const lost = (frame: Surroundings, request: HttpServerRequest.HttpServerRequest) =>
  !isForPrograms.test(request.url) &&
  preferred(request.headers["accept"], ["application/json", "text/html"]) === "text/html"
    ? Pages.notFound(frame, "No page has this address. It may have been cut short.")
    : HttpServerResponse.empty({ status: 404 })

/**
 * Pages are revalidated each time, with 304 while unchanged. Files named by their content are cached forever. So a
 * page, its style and its module always fit together.
 */
const pages = Layer.unwrap(
  Effect.gen(function* () {
    const files = yield* Files.make({ root, cacheControl: "no-cache" })
    const frame = yield* surroundings
    // `*`, because the router also matches `/` by `/*`.
    return HttpRouter.add("GET", "*", (request) => {
      const [path = ""] = request.url.split("?", 1)
      return files.pipe(
        Effect.map(isForEver(path) ? HttpServerResponse.setHeader("cache-control", forEver) : identity),
        Effect.catchIf(
          ({ reason }) => reason._tag === "RouteNotFound",
          () => Effect.succeed(lost(frame, request)),
        ),
      )
    })
  }),
).pipe(Layer.provide([guarded, compressed]))

/** Pages that are rendered on request, under the same rules. */
const rendered = Layer.mergeAll(Guide.layer, Feed.layer, Permalinks.layer).pipe(Layer.provide([guarded, compressed]))

/** Temporary, because browsers keep a permanent redirect of `http://127.0.0.1:3000/` for the port's next program. */
const home = HttpRouter.add("GET", "/", (request) =>
  Effect.succeed(HttpServerResponse.redirect(Pages.withQuery("/v2/", request), { status: 307 })),
)

export const docs = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Reference.layer(contract).pipe(Layer.provide([guarded, compressed]))

export const layer = Layer.mergeAll(pages, rendered, Pictures.layer, home)
