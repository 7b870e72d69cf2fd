/** The template of a path, as metrics and the log name a route: few names, whatever clients ask for. */
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

/** What is served beside the contract, by the first part of its path. */
const beside = new Set([".well-known", "art", "docs", "log", "mcp", "sandbox", "signals", "v2", "web"])
const files = new Set(["/", "/openapi.json", "/llms.txt", "/for-agents", "/robots.txt", "/terms", "/privacy"])

export type RouteName = (url: string) => string

export const make = <Groups extends HttpApiGroup.Constraint>(
  contract: HttpApi.HttpApi<"spirit-altar", Groups>,
): RouteName => {
  const routes = FindMyWay.make<string>({ caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 500 })
  const known = new Set<string>()
  HttpApi.reflect(contract, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      // One path may have several methods.
      if (!known.has(endpoint.path)) routes.on("GET", `/${endpoint.path.slice(1)}`, endpoint.path)
      known.add(endpoint.path)
    },
  })
  return (url) => {
    const found = routes.find("GET", url)
    if (found !== undefined) return found.handler
    const path = url.split("?", 1)[0] ?? "/"
    if (files.has(path)) return path
    const first = path.split("/", 2)[1] ?? ""
    return beside.has(first) ? `/${first}/*` : "other"
  }
}
