/** Maps paths to route templates for metrics and logs, so that names stay few for any request. */
import { HttpApi, type HttpApiGroup } from "effect/http-api"

/** Paths outside the contract, by their first part. */
const beside = new Set([".well-known", "art", "docs", "log", "mcp", "sandbox", "signals", "v2", "web"])
const files = new Set([
  "/",
  "/openapi.json",
  "/llms.txt",
  "/for-agents",
  "/for-agents.md",
  "/robots.txt",
  "/terms",
  "/verify",
  "/privacy",
  "/acts.atom",
  "/site.webmanifest",
])

export type RouteName = (url: string) => string

/** A tree of templates by path segment. A parameter matches any segment. */
interface Node {
  readonly named: Map<string, Node>
  any?: Node
  template?: string
}

const node = (): Node => ({ named: new Map() })

const childOf = (parent: Node, part: string): Node => {
  if (part.startsWith(":")) return (parent.any ??= node())
  const known = parent.named.get(part) ?? node()
  parent.named.set(part, known)
  return known
}

/** Walks from slash to slash without splitting the path, since it runs for every request. */
const templateOf = (root: Node, path: string): string | undefined => {
  let at: Node | undefined = root
  for (let from = 1; from <= path.length && at !== undefined;) {
    const slash = path.indexOf("/", from)
    const to = slash === -1 ? path.length : slash
    const part = path.slice(from, to)
    at = at.named.get(part) ?? (part === "" ? undefined : at.any)
    from = to + 1
  }
  return at?.template
}

export const make = <Groups extends HttpApiGroup.Constraint>(
  contract: HttpApi.HttpApi<"spirit-altar", Groups>,
): RouteName => {
  const root = node()
  HttpApi.reflect(contract, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      endpoint.path.split("/").slice(1).reduce(childOf, root).template = endpoint.path
    },
  })
  return (url) => {
    const query = url.indexOf("?")
    const path = query === -1 ? url : url.slice(0, query)
    const template = templateOf(root, path)
    if (template !== undefined) return template
    if (files.has(path)) return path
    const first = path.split("/", 2)[1] ?? ""
    return beside.has(first) ? `/${first}/*` : "other"
  }
}
