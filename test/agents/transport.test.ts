/** The endpoint byte by byte: the rules of streamable HTTP, 2025-06-18, for a server without sessions. */
import { Effect } from "effect"
import { type Answer, ask, layer as world, TestServer } from "../lab/Fixture.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, suite } from "../lab/Suites.ts"

const ping = { jsonrpc: "2.0", id: 1, method: "ping" }

const send = (body: unknown, headers: Record<string, string> = {}, path = "/mcp") =>
  Effect.flatMap(TestServer, ({ url }) =>
    ask(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
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

interface Reply {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object }
}

const replyOf = ({ text }: Answer): Reply => JSON.parse(text)

const refuses = (answer: Answer, status: number, code: number, says: RegExp) => {
  assert.strictEqual(answer.status, status, answer.text)
  const { error, id, jsonrpc } = replyOf(answer)
  assert.deepStrictEqual([jsonrpc, id, error?.code], ["2.0", null, code])
  assert.match(error?.message ?? "", says)
}

suite("POST /mcp", world(), (it) => {
  it("answers a request with JSON on both paths, without a session", function* () {
    for (const path of ["/mcp", "/api/mcp"]) {
      const answer = yield* send(ping, {}, path)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      assert.isNull(answer.headers.get("mcp-session-id"))
      assert.deepEqual(JSON.parse(answer.text), { jsonrpc: "2.0", id: 1, result: {} })
    }
    const named = yield* send({ ...ping, id: "a" })
    assert.deepEqual(JSON.parse(named.text), { jsonrpc: "2.0", id: "a", result: {} })
  })

  it("accepts notifications and responses without a body", function* () {
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      { jsonrpc: "2.0", id: 7, result: {} },
    ]) {
      const answer = yield* send(body)
      assert.deepStrictEqual([answer.status, answer.text], [202, ""])
    }
  })

  it("speaks 2025-06-18 for every requested version", function* () {
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
    refuses(yield* send(ping, { "mcp-protocol-version": "2024-11-05" }), 400, -32600, /2025-06-18/u)
    refuses(yield* send(ping, { "mcp-protocol-version": "" }), 400, -32600, /2025-06-18/u)
  })

  it("refuses batches, broken messages and other media types", function* () {
    refuses(yield* send([ping]), 400, -32600, /no batches/u)
    refuses(yield* send([]), 400, -32600, /no batches/u)
    refuses(yield* send("{"), 400, -32700, /not JSON/u)
    refuses(yield* send(""), 400, -32700, /not JSON/u)
    for (const wrong of [
      { ...ping, id: null },
      { ...ping, id: 1.5 },
      { ...ping, jsonrpc: "1.0" },
      { ...ping, params: [] },
      1,
    ]) {
      refuses(yield* send(wrong), 400, -32600, /JSON-RPC/u)
    }
    refuses(yield* send(ping, { "content-type": "text/plain" }), 415, -32600, /application\/json/u)
    refuses(yield* send({ ...ping, params: { a: "x".repeat(65_536) } }), 413, -32600, /64|limit|large/iu)
    refuses(yield* send(ping, { accept: "text/event-stream" }), 406, -32600, /application\/json/u)
    assert.strictEqual((yield* send(ping, { accept: "*/*" })).status, 200)
  })

  it("refuses malformed parameters as the protocol says", function* () {
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
  })

  it("on a local server admits pages of this machine, and tells other pages before they send", function* ({ url }) {
    for (const origin of ["https://elsewhere.example", "null", `${url}.example`, "http://127.0.0.1.example"]) {
      refuses(yield* send(ping, { origin }), 403, -32600, /Only pages of this machine/u)
      const asked = yield* preflight(`${url}/mcp`, origin)
      assert.deepStrictEqual([asked.status, asked.headers.get("access-control-allow-origin")], [403, null], origin)
    }
    for (const origin of [url, "http://localhost:6274", "http://[::1]:8080"]) {
      assert.strictEqual((yield* send(ping, { origin })).status, 200)
      assert.strictEqual((yield* preflight(`${url}/api/mcp`, origin)).status, 204)
    }
  })

  it("on a public server admits every page, with the headers of the protocol", function* () {
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

  it("has no stream and no session to end", function* ({ url }) {
    for (const path of ["/mcp", "/api/mcp"]) {
      for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
        const answer = yield* ask(`${url}${path}`, { method, headers: { accept: "text/event-stream" } })
        assert.deepStrictEqual([answer.status, answer.headers.get("allow")], [405, "OPTIONS, POST"], method)
      }
    }
  })

  it("separates faults of the server from those of the model, without details", function* ({ sql }) {
    yield* sql`ALTER TABLE payment_totals RENAME TO gone`
    const answer = yield* send({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "field" } })
    yield* sql`ALTER TABLE gone RENAME TO payment_totals`
    const { error, id } = replyOf(answer)
    assert.deepStrictEqual([answer.status, id, error?.code], [200, 5, -32603])
    assert.hasAllKeys(error?.data, ["requestId"])
    assert.notInclude(answer.text, "payment_totals")
  })
})
