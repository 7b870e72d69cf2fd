/** Files of a folder; where no file can be, there is none, and the disk is not asked. */
import { Effect } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerRespondable, HttpStaticServer } from "effect/http"

interface Options {
  readonly root: string
  readonly cacheControl: string
}

/** No file of ours has a longer name, and a file system fails on names that are too long. */
const longestName = 250

/** A file system fails on what lies below a file, and no folder of ours has a dot in its name. */
const isBelowFile = (path: string) => /\.[^/]*\//u.test(path)

const mayBe = ({ originalUrl, url }: HttpServerRequest.HttpServerRequest) => {
  const [path = ""] = url.split("?", 1)
  return path.length <= longestName && !isBelowFile(path) && (originalUrl.startsWith("/") || URL.canParse(originalUrl))
}

/** Answers a request with a file, its parts or its absence, as `RouteNotFound`. */
export const make = (options: Options) =>
  Effect.map(HttpStaticServer.make(options), (file) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      mayBe(request)
        ? file
        : Effect.fail(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })),
    ),
  )

export const layer = ({ prefix, ...options }: Options & { readonly prefix: `/${string}` }) =>
  HttpRouter.use((router) =>
    Effect.flatMap(make(options), (file) =>
      router.prefixed(prefix).add("GET", "/*", Effect.catch(file, HttpServerRespondable.toResponse)),
    ),
  )
