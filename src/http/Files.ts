/** Serves the files of a folder. A path that cannot be a file is answered without the disk. */
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerRespondable, HttpStaticServer } from "effect/http"

interface Options {
  readonly root: string
  readonly cacheControl: string
}

/** Maximum bytes of a path. No file of ours has a longer one, and file systems fail on names that are too long. */
const longestName = 250

/** File systems fail on paths below a file, and no folder of ours has a dot in its name. */
const isBelowFile = (path: string) => /\.[^/]*\//u.test(path)

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

/** Answers a request with a file or a part of it. Fails with `RouteNotFound` if there is none. */
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
