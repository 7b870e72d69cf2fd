/** `/docs`, its error codes, and both as Markdown: the reference of the served contract, rendered on the first request. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { documentAt } from "../../../schema/Api.ts"
import { cachedResponse } from "../../http/CachedResponse.ts"
import { Frame } from "../Frame.ts"
import * as Pages from "../Pages.ts"
import type { Page } from "../templates/Layout.ts"
import { layout } from "../templates/Layout.ts"
import * as ErrorPage from "./ErrorPage.ts"
import { addressOf, errorsOf, root } from "./Errors.ts"
import { markdown } from "./Markdown.ts"
import { read, referenceOf } from "./Operations.ts"
import { page } from "./Page.ts"

/** Drops the indentation of the markup, which is a fifth of the compressed page. */
const compact = (document: string) =>
  document.replace(/(<(pre|textarea)[\s\S]*?<\/\2>)|\n\s+/gu, (_, preformatted?: string) => preformatted ?? "\n")

export const layer = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const frame = yield* Frame
      const { publicUrl } = frame
      const asPage = (shown: Page) => cachedResponse(compact(layout(frame, shown)), { contentType: Pages.contentType })
      const asMarkdown = (text: string) => cachedResponse(text, { contentType: "text/markdown; charset=utf-8" })
      /** Each document by its path. */
      const documents = yield* Effect.cached(
        Effect.suspend(() => read(documentAt(contract, publicUrl))).pipe(
          Effect.orDie,
          Effect.map((document) => {
            const reference = referenceOf(document)
            const errors = errorsOf(reference)
            return new Map([
              ["/docs", asPage(page(publicUrl, reference))],
              ["/docs.md", asMarkdown(markdown(publicUrl, reference))],
              [root, asPage(ErrorPage.listPage(errors))],
              [`${root}.md`, asMarkdown(ErrorPage.listMarkdown(errors))],
              ...errors.flatMap((error) => [
                [addressOf(error.code), asPage(ErrorPage.codePage(error))] as const,
                [`${addressOf(error.code)}.md`, asMarkdown(ErrorPage.codeMarkdown(error))] as const,
              ]),
            ])
          }),
        ),
      )
      const route = (path: `/${string}`) =>
        HttpRouter.add("GET", path, (request) =>
          Pages.guarded(
            frame,
            Effect.flatMap(documents, (kept) => {
              const found = kept.get(Pages.urlOf(request).pathname)
              return found === undefined
                ? Effect.succeed(
                    Pages.notFound(
                      frame,
                      request,
                      "No error code has this name. All codes are listed at /docs/errors.",
                    ),
                  )
                : found.respond(request)
            }),
          ),
        )
      return Layer.mergeAll(route("/docs"), route("/docs.md"), route(root), route(`${root}.md`), route(`${root}/:code`))
    }),
  )
