/** The restrictions that every answer sets for a browser: pages, their parts, documents, refusals, redirects, pictures and JSON alike. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { AppConfig } from "../../src/server/config/Config.ts"
import { createActs, sandbox } from "../lab/browser/Guide.ts"
import { rooms, loopback } from "../lab/server/Rooms.ts"
import { type Answer, ask, post, realClock, TestServer } from "../lab/Fixture.ts"
import { operations } from "../lab/OpenApi.ts"

/** Every method of every path of the contract, and two paths outside it; parameters name nothing that exists. */
const requests = Map.groupBy(operations, ({ path }) => path.replaceAll(/\{\w+\}/gu, "nowhere"))

const asBrowser = { accept: "text/html", origin: "https://dapp.example" }

const grants = ["access-control-allow-origin", "access-control-expose-headers"]

const exposed =
  "PAYMENT-REQUIRED,PAYMENT-RESPONSE,WWW-Authenticate,Payment-Receipt,Retry-After,Location,Link,ETag,Idempotent-Replayed,X-Request-Id"

/** The room grants nothing to other origins. All else exposes one list; only a tool on a local server admits no other origin. */
const grantedTo = (path: string): ReadonlyArray<string | null> =>
  /^\/(?:api\/rooms|api\/health|livez|readyz|signals)(?:[/?]|$)/u.test(path) ? [null, null] : ["*", exposed]

/** The paths without a link on any page. */
const unlinked: ReadonlyArray<readonly [path: string, init?: RequestInit]> = [
  ...`/ /signals /signals/ /llms.txt /robots.txt /acts.atom /favicon.ico
    /openapi.json /.well-known/security.txt /.well-known/mcp/server-card.json /.well-known/agent.json
    /.well-known/x402 /sandbox /log/checkpoint /log/nowhere /mcp /nowhere // /api;x`
    .split(/\s+/u)
    .map((path) => [path] as const),
  ...["/docs", "/for-agents", "/nowhere", "/%00", `/${"a".repeat(300)}`, "/v2/%E0%A4%A", "/v2/acts?q=%F0"].map(
    (path) => [path, { headers: asBrowser }] as const,
  ),
  ["/for-agents", { headers: { accept: "text/markdown" } }],
  ["/mcp", post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { accept: "application/json, text/event-stream" })],
  ["/v2/", { method: "HEAD" }],
  ["/v2/", { method: "POST" }],
  ["/api/witness", post("a".repeat(70_000), { "idempotency-key": "key-of-a-body-too-long" })],
  ["/api/witness", post("text", { "content-type": "text/plain" })],
  ["/api/witness", post("{}", { "content-encoding": "gzip", "idempotency-key": "key-of-a-gzip" })],
  ["/api/rooms", post({ name: "Heron" }, { origin: "https://elsewhere.example" })],
  ["/signals/", { method: "OPTIONS", headers: { ...asBrowser, "access-control-request-method": "GET" } }],
]

/** Addresses of this server that a page names. */
const linksOf = (url: string, { text }: Answer) =>
  [...text.matchAll(/\s(?:href|src|srcset|content)="([^"#\s]+)/gu)].flatMap(([, link = ""]) => {
    const target = link.replaceAll("&amp;", "&")
    return target.startsWith(url) ? [target.slice(url.length)] : /^\/(?!\/)/u.test(target) ? [target] : []
  })

const typeOf = ({ headers }: Answer) => (headers.get("content-type") ?? "").split(";", 1)[0] ?? ""

/** Script or style that is not a file of ours. */
const inline = /<script(?![^>]*\ssrc=")[^>]*>|<style[^>]*>|<[^>]*\sstyle="|<[^>]*\son\w+="|="javascript:/giu

/** The faults in the policy of one answer; none if it is right. */
const faultsOf = (answer: Answer): ReadonlyArray<string> => {
  const { headers, text } = answer
  const type = typeOf(answer)
  const isPage = type === "text/html"
  // A browser renders no JSON, so an API answer carries no policy for it.
  if (type === "" || type === "application/json") {
    const carried = ["content-security-policy", "referrer-policy", "cross-origin-resource-policy", "permissions-policy"]
    return [
      ...(type === "" ? [] : carried.filter((name) => headers.has(name))),
      ...(headers.get("x-content-type-options") === "nosniff" ? [] : ["x-content-type-options"]),
    ]
  }
  const policy = new Map(
    (headers.get("content-security-policy") ?? "").split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ")
      return [name, sources.join(" ")] as const
    }),
  )
  const sources = [...policy].flatMap(([name, value]) => value.split(" ").map((source) => `${name} ${source}`))
  const allowed = /^(?:[a-z-]+ '(?:none|self)'|img-src data:)$/u
  const wanted: Readonly<Record<string, string | null>> = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": type.startsWith("image/") ? "cross-origin" : "same-origin",
    "cross-origin-opener-policy": isPage ? "same-origin" : null,
    "strict-transport-security": null,
    "x-powered-by": null,
    server: null,
  }
  return [
    ...sources.filter((source) => !allowed.test(source)),
    ...["default-src", "frame-ancestors", ...(isPage ? ["base-uri"] : [])].filter(
      (name) => policy.get(name) !== "'none'",
    ),
    ...(isPage && !/^'(?:none|self)'$/u.test(policy.get("form-action") ?? "") ? ["form-action"] : []),
    ...Object.entries(wanted).flatMap(([name, value]) => (headers.get(name) === value ? [] : [name])),
    ...(isPage === /^camera=\(\), .*usb=\(\)$/u.test(headers.get("permissions-policy") ?? "")
      ? []
      : ["permissions-policy"]),
    ...(isPage || type === "image/svg+xml" ? (text.match(inline) ?? []) : []),
  ]
}

layer(sandbox({ trustedProxies: loopback }), realClock)("every answer", (it) => {
  it.effect("allows only own scripts and resources, no frame, and grants what other origins may read", function* () {
    const { url } = yield* TestServer
    const { stone } = yield* createActs
    const faults: Array<string> = []
    const types = new Set<string>()
    const statuses = new Set<number>()
    let turn = 0
    const look = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
      // Each asks from an address of its own, so that no limit stands in the way.
      const from = { "x-forwarded-for": `10.${(turn >> 8) & 255}.${turn++ & 255}.1` }
      const answer = yield* ask(url + path, {
        ...init,
        headers: { ...from, ...Object.fromEntries(new Headers(init.headers)) },
      })
      types.add(typeOf(answer))
      assert.isFalse(answer.headers.has("set-cookie"), path)
      statuses.add(answer.status)
      const isForeignCall = /^\/(?:api\/)?mcp$/u.test(path) && "origin" in Object(init.headers)
      const [allowed, ...others] = grantedTo(path)
      if (/origin/iu.test(answer.headers.get("vary") ?? "")) faults.push(`${path} varies by origin`)
      const granted = grants.map((name) => answer.headers.get(name))
      if (String(granted) !== String([isForeignCall ? null : allowed, ...others]))
        faults.push(`${init.method ?? "GET"} ${path} ${answer.status}: grants ${granted}`)
      for (const fault of faultsOf(answer)) faults.push(`${init.method ?? "GET"} ${path} ${answer.status}: ${fault}`)
      return answer
    })
    for (const [path, own] of requests)
      for (const method of [...own.map((one) => one.method), "PUT", "OPTIONS"]) {
        yield* look(path, method === "POST" ? post({}, { "idempotency-key": "key-of-an-operation" }) : { method })
        yield* look(path, { method, headers: asBrowser })
      }
    for (const [path, init] of unlinked) yield* look(path, init)
    const seen = new Set([
      "/v2/",
      "/v2/witness",
      `/witness/${stone.id}`,
      ...Object.values((yield* ask(`${url}/assets.json`)).json)
        .flat()
        .map(String),
    ])
    // A set goes on with what is added to it on the way: this walks the site.
    for (const path of seen) {
      const answer = yield* look(path, { headers: asBrowser })
      const links = typeOf(answer) === "text/html" && answer.status === 200 ? linksOf(url, answer) : []
      for (const link of links) if (seen.size < 600) seen.add(link)
    }
    assert.deepStrictEqual(faults, [])
    const named = `application/atom+xml application/json font/woff2 image/png image/svg+xml text/css
      text/html text/javascript text/markdown text/plain`.split(/\s+/u)
    assert.includeMembers([...types], named)
    for (const status of [200, 204, 307, 308, 400, 402, 403, 404, 405, 413, 415])
      assert.isTrue(statuses.has(status), String(status))
    assert.isAbove(seen.size, 150)
  })

  it.effect("keeps the policy and the grants of a cached response in its 304", function* () {
    const { url } = yield* TestServer
    for (const path of ["/v2/", "/art/spirits/moss-hare.svg", "/api/spirits", "/llms.txt"]) {
      const first = yield* ask(url + path)
      const again = yield* ask(url + path, { headers: { "if-none-match": first.headers.get("etag") ?? "" } })
      assert.strictEqual(again.status, 304, path)
      assert.strictEqual(again.headers.get("access-control-expose-headers"), exposed, path)
      for (const name of ["content-security-policy", "cross-origin-resource-policy"]) {
        const brought = again.headers.get(name)
        if (brought !== null) assert.strictEqual(brought, first.headers.get(name), `${path} ${name}`)
      }
    }
  })
})

layer(rooms({ publicUrl: "https://altar.example" }), realClock)("a server with a public https URL", (it) => {
  it.effect("sends HSTS with every answer, and none for other names of its domain", function* () {
    const { host, port } = yield* AppConfig
    for (const path of ["/v2/", "/api/spirits", "/nowhere", "/art/spirits/moss-hare.svg", "/api/rooms/nowhere"]) {
      const { headers } = yield* ask(`http://${host}:${port}${path}`)
      assert.strictEqual(headers.get("strict-transport-security"), "max-age=31536000", path)
    }
  })
})
