/** Names requests by their routes for metrics and logs, so that names stay few for any request. */
import { Effect, Layer } from "effect"
import { FindMyWay, HttpRouter } from "effect/http"

/** Folders of the site's files, and of the drawings. */
const folders = new Set(["art", "chunks", "docs", "signals", "style", "type", "v2"])

export type RouteName = (url: string) => string

/** The name of a request, and the router that notes each path that is added to it. */
export const make = (config: Partial<FindMyWay.RouterConfig>) => {
  const paths = new Set<string>()
  const router = FindMyWay.make<string>(config)
  const record = (path: string) => {
    // Any path would match the route of files.
    if (path === "*" || paths.has(path)) return
    paths.add(path)
    router.on("GET", `/${path.slice(1)}`, path)
  }
  const nameOf: RouteName = (url) => {
    const [path = "/"] = url.split("?", 1)
    if (paths.has(path)) return path
    const first = path.split("/", 2)[1] ?? ""
    return router.find("GET", path)?.handler ?? (folders.has(first) ? `/${first}/*` : "other")
  }
  const recorded = Layer.effect(
    HttpRouter.HttpRouter,
    Effect.map(HttpRouter.HttpRouter, (routes) =>
      HttpRouter.HttpRouter.of({
        ...routes,
        add: (method, path, ...rest) => {
          record(path)
          return routes.add(method, path, ...rest)
        },
        addAll: (added) => {
          for (const { path } of added) record(path)
          return routes.addAll(added)
        },
      }),
    ),
  )
  return { nameOf, recorded }
}
