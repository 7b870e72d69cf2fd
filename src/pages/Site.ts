/** The pages: static files that may run their own code alone, the way in, and the reference of the API. */
import { fileURLToPath } from "node:url"
import { Effect, Layer } from "effect"
import {
  HttpMiddleware,
  HttpPlatform,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse,
  HttpStaticServer,
} from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar } from "effect/http-api"
import { apiAt } from "../../schema/Api.ts"
import { preferred } from "../platform/http/Accept.ts"
import { type Written, written } from "../platform/http/Written.ts"
import { packageRoot } from "../platform/PackageRoot.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as Guide from "./Guide.ts"
import * as Pages from "./Pages.ts"
import * as Permalinks from "./Permalinks.ts"

/** What `src/web/build.ts` writes. */
const root = fileURLToPath(new URL("dist/web/", packageRoot))

/** No file of ours has a longer name, and a file system fails on names that are too long. */
const longestName = 250

const policyOf = (change: Readonly<Record<string, string>> = {}) =>
  Object.entries({
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    ...change,
  })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ")

const guarded = (policy: string) =>
  HttpRouter.middleware((httpEffect) =>
    Effect.map(httpEffect, HttpServerResponse.setHeader("content-security-policy", policy)),
  ).layer

/** Pages, styles and modules travel compressed; whoever asks for no encoding gets the bytes as they lie. */
export const compressed = HttpRouter.middleware(
  Effect.map(
    HttpPlatform.HttpPlatform,
    (platform) => (httpEffect) =>
      Effect.provideService(HttpMiddleware.compression()(httpEffect), HttpPlatform.HttpPlatform, platform),
  ),
).layer

/** A person who follows a wrong link gets a page; a program, or whoever asks below `/api/`, the refusal as ever. */
const lost = (publicUrl: string, request: HttpServerRequest.HttpServerRequest) =>
  !request.url.startsWith("/api/") &&
  preferred(request.headers["accept"], ["application/json", "text/html"]) === "text/html"
    ? Pages.notFound(publicUrl, request, "Nothing stands under this address. It may have been cut short.")
    : HttpServerResponse.empty({ status: 404 })

/** Asked again each time, answered with 304 as long as nothing changed: a page and its module always fit together. */
const pages = Layer.unwrap(
  Effect.gen(function* () {
    const files = yield* HttpStaticServer.make({ root, cacheControl: "no-cache" })
    const publicUrl = yield* PublicUrl
    // `*`, because the router lets `/*` answer `/` too.
    return HttpRouter.add("GET", "*", (request) =>
      (request.url.split("?", 1)[0] ?? "").length > longestName
        ? Effect.succeed(lost(publicUrl, request))
        : Effect.catchIf(
            files,
            ({ reason }) => reason._tag === "RouteNotFound",
            () => Effect.succeed(lost(publicUrl, request)),
          ),
    )
  }),
).pipe(Layer.provide([guarded(policyOf()), compressed]))

/** Pages that are written as they are asked for, under the same rules. */
const rendered = Layer.merge(Guide.layer, Permalinks.layer).pipe(Layer.provide([guarded(policyOf()), compressed]))

/** Temporary, because browsers keep a permanent redirect of `http://127.0.0.1:3000/` for whatever runs there next. */
const home = HttpRouter.add("GET", "/", ({ url }) => {
  const query = url.indexOf("?")
  return Effect.succeed(HttpServerResponse.redirect(`/v2/${query === -1 ? "" : url.slice(query)}`, { status: 307 }))
})

/** What never changes while the server runs is written once: its forms are kept, and whoever has it is told 304. */
const kept = HttpRouter.middleware(
  Effect.sync(() => {
    let page: Written | undefined
    const writtenOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
      (page ??= written(body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "", {
        contentType: Pages.contentType,
      }))
    return (httpEffect) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        page === undefined
          ? Effect.flatMap(httpEffect, (response) => writtenOf(response).respond(request))
          : page.respond(request),
      )
  }),
).layer

/** Scalar brings its code and styles inline; it still reaches no other host. */
export const docs = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.unwrap(
    Effect.map(PublicUrl, (publicUrl) =>
      HttpApiScalar.layer(apiAt(contract, publicUrl), { path: "/docs", scalar: { withDefaultFonts: false } }),
    ),
  ).pipe(
    Layer.provide(kept),
    Layer.provide(
      guarded(policyOf({ "script-src": "'unsafe-inline'", "style-src": "'unsafe-inline'", "font-src": "data:" })),
    ),
  )

export const layer = Layer.mergeAll(pages, rendered, home)
