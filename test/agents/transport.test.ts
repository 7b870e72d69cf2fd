/** The endpoint byte by byte: the rules of streamable HTTP, 2025-06-18, for a server without sessions. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Answer, ask, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

const ping = { jsonrpc: "2.0", id: 1, method: "ping" }

const send = (body: unknown, headers: Record<string, string> = {}, path = "/mcp") =>
  Effect.flatMap(TestServer, ({ url }) =>
    ask(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body),
    }),
  )

const protocolHeaders = `accept content-type last-event-id mcp-method mcp-name mcp-protocol-version
  mcp-session-id`.split(/\s+/u)

/** The preflight of a browser for a page of another origin. */
const preflight = (url: string, origin: string) =>
  ask(url, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": protocolHeaders.join(","),
    },
  })

const replyOf = ({ text }: Answer) => JSON.parse(text)

const refuses = (answer: Answer, status: number, code: number, says: RegExp) => {
  assert.strictEqual(answer.status, status, answer.text)
  const { error, id, jsonrpc } = replyOf(answer)
  assert.deepStrictEqual([jsonrpc, id, error?.code], ["2.0", null, code])
  assert.match(error.message, says)
}

layer(world(), realClock)("POST /mcp", (it) => {
  it.effect("answers a request with JSON on both paths, without a session", function* () {
    for (const path of ["/mcp", "/api/mcp", "/mcp/", "/api/mcp/", "/mcp/?a=/", "/%6dcp/"]) {
      const answer = yield* send(ping, {}, path)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      assert.isNull(answer.headers.get("mcp-session-id"))
      assert.deepEqual(JSON.parse(answer.text), { jsonrpc: "2.0", id: 1, result: {} })
    }
    for (const id of ["a", "", 0, -1, 1.5, 2 ** 53 - 1]) {
      const named = yield* send({ ...ping, id })
      assert.deepEqual(JSON.parse(named.text), { jsonrpc: "2.0", id, result: {} })
    }
  })

  it.effect("accepts notifications without a body", function* () {
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      { jsonrpc: "2.0", method: "notifications/initialized", params: null },
    ]) {
      const answer = yield* send(body)
      assert.deepStrictEqual([answer.status, answer.text], [202, ""])
      assert.strictEqual(answer.headers.get("content-length"), "0")
    }
  })

  it.effect("speaks 2025-06-18 for every requested version", function* () {
    const initialize = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "initialize", params })
    for (const protocolVersion of ["2025-06-18", "2024-11-05", "2099-01-01"]) {
      const { result } = replyOf(
        yield* send(initialize({ protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } })),
      )
      assert.strictEqual(result?.["protocolVersion"], "2025-06-18")
    }
    const { error } = replyOf(yield* send(initialize({})))
    assert.strictEqual(error?.code, -32602)
    assert.strictEqual((yield* send(ping, { "mcp-protocol-version": "2025-06-18" })).status, 200)
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
      for (const message of [ping, { ...ping, method: "tools/list", params: null }])
        assert.property(replyOf(yield* send(message, { "mcp-protocol-version": version })), "result", version)
    for (const version of ["", "nonsense", "2025-06-19", "2025"])
      refuses(yield* send(ping, { "mcp-protocol-version": version }), 400, -32600, /2025-06-18/u)
  })

  it.effect("refuses batches, broken messages and other media types", function* () {
    refuses(yield* send([ping]), 400, -32600, /no batches/u)
    refuses(yield* send([]), 400, -32600, /no batches/u)
    refuses(yield* send("{"), 400, -32700, /not JSON/u)
    const latin = { "content-type": "application/json; charset=iso-8859-1" }
    refuses(yield* send(new Blob([Uint8Array.of(0x22, 0xe9, 0x22)]), latin), 400, -32700, /UTF-8/u)
    refuses(yield* send(""), 400, -32700, /not JSON/u)
    for (const wrong of [
      { ...ping, id: null },
      { ...ping, id: 2 ** 53 },
      { ...ping, jsonrpc: "1.0" },
      { ...ping, params: [] },
      { jsonrpc: "2.0", id: 7, result: {} },
      1,
    ]) {
      refuses(yield* send(wrong), 400, -32600, /JSON-RPC/u)
    }
    refuses(yield* send(ping, { "content-type": "text/plain" }), 415, -32600, /application\/json/u)
    for (const path of ["/mcp", "/mcp/"])
      refuses(yield* send({ ...ping, params: { a: "x".repeat(65_536) } }, {}, path), 413, -32600, /64|limit|large/iu)
    refuses(yield* send(ping, { accept: "text/event-stream" }), 406, -32600, /application\/json/u)
    assert.strictEqual((yield* send(ping, { accept: "*/*" })).status, 200)
  })

  it.effect("refuses malformed parameters as the protocol says", function* () {
    for (const [method, params] of [
      ["tools/call", {}],
      ["tools/call", { name: 1 }],
      ["tools/call", { name: "field", arguments: [] }],
      ["tools/call", { name: "__proto__" }],
      ["tools/list", { cursor: "x" }],
    ] as const) {
      const answer = yield* send({ jsonrpc: "2.0", id: 3, method, params })
      const { error, id } = replyOf(answer)
      assert.deepStrictEqual([answer.status, id, error?.code], [200, 3, -32602], answer.text)
    }
    const { error } = replyOf(yield* send({ ...ping, method: "resources/list" }))
    assert.strictEqual(error?.code, -32601)
  })

  it.effect("reads a member that is null or empty as absent", function* () {
    for (const [method, params] of [
      ["ping", null],
      ["tools/list", null],
      ["tools/list", ""],
      ["tools/list", { cursor: null, _meta: null }],
      ["tools/list", { cursor: "" }],
      ["tools/call", { name: "field", arguments: null }],
      ["tools/call", { name: "field", arguments: "" }],
    ] as const) {
      const { error, result } = replyOf(yield* send({ jsonrpc: "2.0", id: 3, method, params }))
      assert.isUndefined(error, method)
      assert.notStrictEqual(result.isError, true, JSON.stringify(result))
    }
  })

  it.effect("answers probes for OAuth with JSON, whatever they accept", function* () {
    const { url } = yield* TestServer
    const names = ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"]
    const places = names.flatMap((name) => [
      `/.well-known/${name}`,
      `/.well-known/${name}/mcp`,
      `/mcp/.well-known/${name}`,
      `/api/mcp/.well-known/${name}`,
    ])
    for (const path of [...places, "/mcp/sse"])
      for (const accept of ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "*/*"]) {
        const answer = yield* ask(`${url}${path}`, { headers: { accept } })
        assert.deepStrictEqual([answer.status, answer.json["code"]], [404, "not_found"], `${path} ${accept}`)
      }
  })

  it.effect("on a local server admits pages of this machine, and tells other pages before they send", function* () {
    const { url } = yield* TestServer
    for (const origin of ["https://elsewhere.example", "null", `${url}.example`, "http://127.0.0.1.example"]) {
      for (const path of ["/mcp", "/api/mcp", "/mcp/", "/api/mcp/", "/mcp/?a", "/%6dcp/"]) {
        refuses(yield* send(ping, { origin }, path), 403, -32600, /Only pages of this machine/u)
        const asked = yield* preflight(`${url}${path}`, origin)
        assert.deepStrictEqual([asked.status, asked.headers.get("access-control-allow-origin")], [403, null], path)
      }
    }
    for (const origin of [url, "http://localhost:6274", "http://[::1]:8080"]) {
      assert.strictEqual((yield* send(ping, { origin })).status, 200)
      assert.strictEqual((yield* preflight(`${url}/api/mcp`, origin)).status, 204)
    }
  })

  it.effect("on a public server admits every page, with the headers of the protocol", function* () {
    const tools = `${yield* anotherServer({}, { publicUrl: "https://altar.example" })}/mcp`
    for (const origin of ["https://elsewhere.example", "null", "https://altar.example"]) {
      const asked = yield* preflight(tools, origin)
      assert.strictEqual(asked.status, 204)
      const allowed = (asked.headers.get("access-control-allow-headers") ?? "").split(",")
      for (const name of protocolHeaders) assert.include(allowed, name)
      const answer = yield* ask(tools, {
        method: "POST",
        headers: { origin, "content-type": "application/json", "mcp-protocol-version": "2025-06-18" },
        body: JSON.stringify(ping),
      })
      assert.deepStrictEqual([answer.status, answer.headers.get("access-control-allow-origin")], [200, "*"])
    }
  })

  it.effect("has no stream and no session to end", function* () {
    const { url } = yield* TestServer
    for (const path of ["/mcp", "/api/mcp", "/mcp/", "/api/mcp/"]) {
      for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
        const answer = yield* ask(`${url}${path}`, { method, headers: { accept: "text/event-stream" } })
        assert.deepStrictEqual([answer.status, answer.headers.get("allow")], [405, "OPTIONS, POST"], method)
      }
    }
  })

  it.effect("separates faults of the server from those of the model, without details", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE payment_totals RENAME TO gone`
    const answer = yield* send({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "field" } })
    yield* sql`ALTER TABLE gone RENAME TO payment_totals`
    const { error, id } = replyOf(answer)
    assert.deepStrictEqual([answer.status, id, error?.code], [200, 5, -32603])
    assert.hasAllKeys(error?.data, ["requestId"])
    assert.notInclude(answer.text, "payment_totals")
  })
})
