/** Maps paths to route templates for metrics and logs, so that names stay few for any request. */
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

/** Paths outside the contract, by their first part. */
const beside = new Set([".well-known", "art", "docs", "log", "mcp", "sandbox", "signals", "v2", "web"])
const files = new Set([
  "/",
  "/openapi.json",
  "/llms.txt",
  "/for-agents",
  "/robots.txt",
  "/terms",
  "/verify",
  "/privacy",
  "/acts.atom",
])

export type RouteName = (url: string) => string

export const make = <Groups extends HttpApiGroup.Constraint>(
  contract: HttpApi.HttpApi<"spirit-altar", Groups>,
): RouteName => {
  const paths = new Set<string>()
  HttpApi.reflect(contract, { onGroup: () => {}, onEndpoint: ({ endpoint }) => void paths.add(endpoint.path) })
  // Endpoints of one path share a name, whatever their methods.
  const router = FindMyWay.make<string>()
  for (const path of paths) router.on("GET", `/${path.slice(1)}`, path)
  return (url) => {
    const query = url.indexOf("?")
    const path = query === -1 ? url : url.slice(0, query)
    const found = router.find("GET", path)
    if (found !== undefined) return found.handler
    if (files.has(path)) return path
    const first = path.split("/", 2)[1] ?? ""
    return beside.has(first) ? `/${first}/*` : "other"
  }
}
