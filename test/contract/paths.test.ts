/** Spellings of paths: a final slash, and the names under which metrics count requests. */
import { request } from "node:http"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { createActs, sandbox } from "../lab/browser/Guide.ts"
import { until } from "../lab/Eventually.ts"
import { ask, post, realClock, TestServer } from "../lab/Fixture.ts"
import { answersCounted } from "../lab/Metrics.ts"
import { filesIn, jsonOf, textOf } from "../lab/Sources.ts"

const html = { headers: { accept: "text/html" } }

/** A request whose path is sent as it stands. */
const raw = (url: string, path: string, method = "GET") =>
  Effect.callback<{ readonly status: number; readonly location: string }>((resume) => {
    const { hostname, port } = new URL(url)
    request({ hostname, port, path, method, headers: { accept: "text/html" } }, (response) => {
      response.resume()
      resume(Effect.succeed({ status: response.statusCode ?? 0, location: response.headers.location ?? "" }))
    }).end()
  })

/** Every path that stands in the sources of pages and documents, with values for its parameters. */
const writtenPaths = Effect.map(createActs, ({ kept, stone }) => {
  const values: Readonly<Record<string, string>> = {
    "/acts/:id": kept.id,
    "/witness/:id": stone.id,
    "/v2/spirits/:name": "moss-hare",
    "/v2/wallets/:name": `0x${"1".repeat(40)}`,
    "/docs/errors/:name": "not_found",
  }
  const literals = filesIn(["src/pages", "src/agents"]).flatMap((file) =>
    [...textOf(file).matchAll(/["`](\/(?:[a-z0-9_.-]+\/?)*(?::[a-z]+)?)["`]/giu)].map(([, path = ""]) => path),
  )
  return [...new Set([...literals, "/docs/errors", ...Object.keys(values)])].map((path) => ({
    route: path,
    path: path.replace(/:[a-z]+$/u, () => values[path] ?? "nothing"),
  }))
})

const endpoints = () => {
  const all: Array<{ readonly path: string; readonly method: string }> = []
  HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: ({ endpoint }) => void all.push(endpoint) })
  return all
}

layer(sandbox(), realClock)("the name of a route in metrics", (it) => {
  it.effect("is its own for each page, permalink, document and endpoint, and 'other' for unknown paths", function* () {
    const { url } = yield* TestServer
    const before = yield* answersCounted
    const paths = [
      ...(yield* writtenPaths),
      ...endpoints().map(({ path }) => ({ route: path, path: path.replace(/:[A-Za-z]+/gu, "moss-hare") })),
    ]
    const assets = Object.values<ReadonlyArray<string>>(jsonOf("dist/web/assets.json")).flat()
    for (const path of [...paths.map((one) => one.path), ...assets]) yield* raw(url, path)
    for (const path of ["/mcp", "/mcp/", "/api/mcp/"]) yield* ask(`${url}${path}`, post({}))
    yield* raw(url, "/nowhere")
    const named = ["/acts/:id", "/witness/:id", "/v2/stone", "/v2/spirits/:name", "/v2/", "/docs/errors", "/log/*"]
    const expected = ["other ", "/api/mcp ", ...named.map((name) => `${name} `)]
    // A response is counted once its client has read it.
    const counted = yield* Effect.map(answersCounted, (after) =>
      [...after].flatMap(([name, count]) => (count === before.get(name) ? [] : [name])),
    ).pipe(
      until(`one of ${expected.join(", ")} is never counted`, (names) =>
        expected.every((name) => names.some((other) => other.startsWith(name))),
      ),
    )
    assert.deepStrictEqual(
      counted.filter((name) => name.startsWith("other ")),
      ["other 404"],
    )
  })
})

layer(sandbox(), realClock)("a final slash", (it) => {
  it.effect("of a page leads to the page and keeps the query, for GET and HEAD", function* () {
    const { url } = yield* TestServer
    let pages = 0
    for (const { path } of yield* writtenPaths) {
      const plain = yield* raw(url, path)
      const isPage = ((yield* ask(`${url}${path}`, html)).headers.get("content-type") ?? "").startsWith("text/html")
      if (path.endsWith("/") || !(plain.status >= 300 || isPage) || plain.status >= 400) continue
      pages += 1
      for (const method of ["GET", "HEAD"])
        for (const query of ["", "?a=1&b=%2F&c=/"]) {
          const { location, status } = yield* raw(url, `${path}/${query}`, method)
          if (plain.status === 200) assert.deepStrictEqual([status, location], [308, `${path}${query}`])
          else if (location !== "") assert.match(location, /^\/(?!\/)/u, path)
        }
    }
    assert.isAbove(pages, 20)
    for (const path of ["/v2/", "/signals/"]) assert.strictEqual((yield* ask(`${url}${path}?a=1`)).status, 200)
    for (const [path, place] of [
      ["/v2?a=1", "/v2/?a=1"],
      ["/acts/?a=1", "/v2/acts?a=1"],
      ["/v2/log?a=1", "/v2/witness?a=1#log"],
      ["/v2/spirits/?a=1", "/v2/?a=1#plates"],
      ["/v2/mine/?wallet=0x1", "/v2/mine?wallet=0x1"],
    ] as const)
      assert.deepStrictEqual(yield* raw(url, path), { status: 308, location: place })
  })

  it.effect("never leads to another host", function* () {
    const { url } = yield* TestServer
    for (const path of `//evil.example/ //evil.example/v2/stone/ //evil.example/%2e%2e/ /%2Fevil.example/ /%5Cevil.example/
        /\\\\evil.example/ /v2//evil.example/ /v2/spirits//evil.example/ /acts//evil.example/ //docs //v2 //signals
        ///signals /.//signals http://evil.example/v2/stone/ http://evil.example//evil.example/verify/`.split(/\s+/u)) {
      const { location, status } = yield* raw(url, path)
      assert.isBelow(status, 500, path)
      assert.match(location, /^(?:$|\/(?![/\\]))/u, path)
    }
    assert.deepStrictEqual(yield* raw(url, "http://evil.example/v2/stone/?a"), {
      status: 308,
      location: "/v2/stone?a",
    })
  })

  it.effect("of an API route is another path", function* () {
    const { url } = yield* TestServer
    for (const { method, path } of endpoints().filter(({ path }) => path.startsWith("/api/"))) {
      const spelled = `${path.replace(/:[A-Za-z]+/gu, "moss-hare")}/`
      assert.strictEqual((yield* raw(url, spelled, method)).status, 404, `${method} ${spelled}`)
    }
    for (const path of ["/openapi.json/", "/llms.txt/", "/mcp//", "/mcp/x/", "/MCP/", "/.well-known/agent.json/"])
      assert.strictEqual((yield* ask(`${url}${path}`, post({}))).status, 404, path)
  })
})
