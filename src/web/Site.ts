/** The pages: static files that may run their own code alone, the way in, and the reference of the API. */
import { fileURLToPath } from "node:url"
import { Effect, Layer } from "effect"
import { HttpMiddleware, HttpPlatform, HttpRouter, HttpServerResponse, HttpStaticServer } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import * as Guide from "./Guide.ts"
import * as Permalinks from "./Permalinks.ts"

/** What `src/web/build.ts` writes. */
const root = fileURLToPath(new URL("../../dist/web/", import.meta.url))

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

/** Asked again each time, answered with 304 as long as nothing changed: a page and its module always fit together. */
const pages = Layer.unwrap(
  // `*`, because the router lets `/*` answer `/` too.
  Effect.map(HttpStaticServer.make({ root, cacheControl: "no-cache" }), (files) =>
    HttpRouter.add("GET", "*", ({ url }) =>
      (url.split("?", 1)[0] ?? "").length > longestName
        ? Effect.succeed(HttpServerResponse.empty({ status: 404 }))
        : files,
    ),
  ),
).pipe(Layer.provide([guarded(policyOf()), compressed]))

/** Pages that are written as they are asked for, under the same rules. */
const written = Layer.merge(Guide.layer, Permalinks.layer).pipe(Layer.provide([guarded(policyOf()), compressed]))

/** Temporary, because browsers keep a permanent redirect of `http://127.0.0.1:3000/` for whatever runs there next. */
const home = HttpRouter.add("GET", "/", ({ url }) => {
  const query = url.indexOf("?")
  return Effect.succeed(HttpServerResponse.redirect(`/v2/${query === -1 ? "" : url.slice(query)}`, { status: 307 }))
})

/** Scalar brings its code and styles inline; it still reaches no other host. */
const docs = HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } }).pipe(
  Layer.provide(
    guarded(policyOf({ "script-src": "'unsafe-inline'", "style-src": "'unsafe-inline'", "font-src": "data:" })),
  ),
)

export const layer = Layer.mergeAll(pages, written, home, docs)
