/** Files of a folder; where no file can be, there is none, and the disk is not asked. */
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerRespondable, HttpStaticServer } from "effect/http"

interface Options {
  readonly root: string
  readonly cacheControl: string
}

/** Bytes: no file of ours has a longer name, and a file system fails on names that are too long. */
const longestName = 250

/** A file system fails on what lies below a file, and no folder of ours has a dot in its name. */
const isBelowFile = (path: string) => /\.[^/]*\//u.test(path)

/** A path as the disk is asked for it. */
const decoded = Option.liftThrowable(decodeURIComponent)

const mayBe = ({ originalUrl, url }: HttpServerRequest.HttpServerRequest) => {
  const [written = ""] = url.split("?", 1)
  const path = Option.getOrUndefined(decoded(written))
  return (
    path !== undefined &&
    Buffer.byteLength(path) <= longestName &&
    !isBelowFile(path) &&
    (originalUrl.startsWith("/") || URL.canParse(originalUrl))
  )
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
