/** Both eras of MCP at one URL: the official clients of both, and each refusal of 2026-07-28 byte by byte. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Redacted } from "effect"
import * as New from "../lab/McpNewClient.ts"
import * as PgProxy from "../lab/proxy/Postgres.ts"
import { from, loopback, newAddress } from "../lab/server/Rooms.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { valuesOf } from "../lab/Assertions.ts"
import { ask, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

const stateless = "2026-07-28"
const key = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
}
const meta = { [key.version]: stateless, [key.capabilities]: {} }
const names = ["field", "spirits", "altar", "buy_kit", "verify_witness"]

type Json = Readonly<Record<string, unknown>>

interface Sent {
  readonly method: string
  readonly params?: Json
  readonly headers?: Json
  readonly id?: unknown
  readonly url?: string
}

/** A request of 2026-07-28 with its headers; a test's own values replace them or, as undefined, remove them. */
const send = Effect.fnUntraced(function* ({ headers = {}, id = 1, method, params = {}, url }: Sent) {
  const all: Json = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": stateless,
    "mcp-method": method,
    ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
    ...from(newAddress()),
    ...headers,
  }
  const kept = Object.entries(all).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))
  const answer = yield* ask(`${url ?? (yield* TestServer).url}/mcp`, {
    method: "POST",
    headers: Object.fromEntries(kept),
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: meta, ...params } }),
  })
  const reply: { readonly id?: unknown; readonly result?: Json; readonly error?: { code: number; data?: Json } } =
    answer.text === "" ? {} : JSON.parse(answer.text)
  return { ...answer, reply }
})

const aServer = world({}, { trustedProxies: loopback })

layer(aServer, realClock)("at one URL for both protocol versions,", (it) => {
  for (const [mode, version] of [
    ["auto", stateless],
    [{ pin: stateless }, stateless],
    ["legacy", "2025-06-18"],
  ] satisfies ReadonlyArray<readonly [New.Mode, string]>) {
    it.effect(`the client of 2026 in mode ${JSON.stringify(mode)} connects, lists, calls and validates`, function* () {
      const { url } = yield* TestServer
      for (const path of ["/mcp", "/api/mcp"]) {
        const { client, transport } = yield* Effect.orDie(New.connect(`${url}${path}`, mode))
        assert.deepStrictEqual([transport.protocolVersion, transport.sessionId], [version, undefined])
        assert.strictEqual(client.getServerVersion()?.name, "spirit-altar")
        const { tools } = yield* Effect.promise(() => client.listTools())
        assert.deepStrictEqual(valuesOf(tools, "name"), names)
        // The client checks structured content against the schema of the list.
        const called = yield* Effect.promise(() => client.callTool({ name: "field", arguments: {} }))
        assert.propertyVal(called.structuredContent, "ok", true)
        const refused = yield* Effect.promise(() => client.callTool({ name: "altar", arguments: { spirit: "x" } }))
        assert.isTrue(refused.isError)
      }
    })
  }

  it.effect("each version's answer to tools/list has the members of that version", function* () {
    const { url } = yield* TestServer
    const old = yield* ask(`${url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    })
    assert.hasAllKeys(JSON.parse(old.text).result, ["tools"])
    const listed = yield* send({ method: "tools/list" })
    assert.strictEqual(listed.status, 200)
    assert.hasAllKeys(listed.reply.result, ["resultType", "tools", "ttlMs", "cacheScope", "_meta"])
    assert.deepInclude(listed.reply.result, { resultType: "complete", cacheScope: "public" })
    assert.isAbove(Number(listed.reply.result?.["ttlMs"]), 0)
    assert.deepEqual(listed.reply.result?.["tools"], JSON.parse(old.text).result.tools)
    const { reply } = yield* send({ method: "server/discover", id: "a" })
    assert.strictEqual(reply.id, "a")
    const members = "resultType supportedVersions capabilities instructions ttlMs cacheScope _meta"
    assert.hasAllKeys(reply.result, members.split(" "))
    assert.deepStrictEqual(reply.result?.["supportedVersions"], [stateless, "2025-06-18"])
    assert.deepInclude(Object(reply.result?.["_meta"])[key.server], { name: "spirit-altar", title: "Spirit Altar" })
  })

  const encoded = (name: string) => `=?base64?${Buffer.from(name).toString("base64")}?=`
  const call = { method: "tools/call", params: { name: "field" } }

  const list = { method: "tools/list" }
  const listed = (params: Json) => ({ ...list, params })
  const headed = (sent: Sent, headers: Json) => ({ ...sent, headers })
  const answers: ReadonlyArray<readonly [what: string, Sent, status: number, code?: number]> = [
    ["no version in _meta and a new header", listed({ _meta: {} }), 400, -32602],
    ["no _meta and a new header", listed({ _meta: undefined }), 400, -32602],
    ["no capabilities", listed({ _meta: { [key.version]: stateless } }), 400, -32602],
    ["a version that is no text", listed({ _meta: { ...meta, [key.version]: 1 } }), 400, -32602],
    ["no version header", headed(list, { "mcp-protocol-version": undefined }), 400, -32020],
    ["another version header", headed(list, { "mcp-protocol-version": "2025-06-18" }), 400, -32020],
    ["no Mcp-Method", headed(list, { "mcp-method": undefined }), 400, -32020],
    ["another Mcp-Method", headed(list, { "mcp-method": "Tools/List" }), 400, -32020],
    ["no Mcp-Name", headed(call, { "mcp-name": undefined }), 400, -32020],
    ["another Mcp-Name", headed(call, { "mcp-name": "altar" }), 400, -32020],
    ["Mcp-Name in another spelling of its Base64", headed(call, { "mcp-name": "=?base64?ZmllbGR=?=" }), 400, -32020],
    ["Mcp-Name in broken Base64", headed(call, { "mcp-name": "=?base64?!?=" }), 400, -32020],
    ["Mcp-Name in Base64", headed(call, { "mcp-name": encoded("field") }), 200],
    ["Mcp-Name between blanks", headed(call, { "mcp-name": "  field " }), 200],
    ["a method named like a prototype", { method: "__proto__" }, 404, -32601],
    ["a call without a name", { method: "tools/call", params: { _meta: meta } }, 200, -32602],
    ["an unknown tool", { method: "tools/call", params: { name: "pay" } }, 200, -32602],
    ["an unknown method", { method: "resources/list" }, 404, -32601],
    ["a handshake", { method: "initialize" }, 404, -32601],
    ["a ping", { method: "ping" }, 404, -32601],
    ["an element that is null", listed({ filler: [null] }), 200],
    ["members that are null", listed({ cursor: null }), 200],
    ["a session of an unknown name", headed(list, { "mcp-session-id": "x" }), 200],
  ]

  it.effect.each(answers)("%s is answered as 2026-07-28 says", function* ([, sent, status, code]) {
    const answer = yield* send({ id: 7, ...sent })
    assert.deepStrictEqual([answer.status, answer.reply.error?.code], [status, code], answer.text)
    assert.strictEqual(answer.reply.id, 7)
    assert.isNull(answer.headers.get("mcp-session-id"))
  })

  it.effect("a client of an unknown version is told the supported versions", function* () {
    for (const version of ["2099-01-01", "2025-11-25", "nonsense"]) {
      const { reply, status } = yield* send({
        method: "server/discover",
        params: { _meta: { ...meta, [key.version]: version } },
        headers: { "mcp-protocol-version": version },
      })
      assert.deepStrictEqual([status, reply.error?.code], [400, -32022])
      assert.deepEqual(reply.error?.data, { supported: [stateless, "2025-06-18"], requested: version })
    }
  })

  it.effect("a malformed request is answered without an id, and a notification not at all", function* () {
    const { url } = yield* TestServer
    const post = (body: string) =>
      ask(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", "mcp-protocol-version": stateless, ...from(newAddress()) },
        body,
      })
    for (const [body, code] of [
      ["{", -32700],
      ["[]", -32600],
      [JSON.stringify({ jsonrpc: "2.0", id: null, method: "tools/list" }), -32600],
      [JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }), -32600],
    ] as const) {
      const answer = yield* post(body)
      assert.strictEqual(answer.status, 400)
      assert.notProperty(JSON.parse(answer.text), "id")
      assert.strictEqual(JSON.parse(answer.text).error.code, code)
    }
    const heard = yield* post(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled" }))
    assert.deepStrictEqual([heard.status, heard.text], [202, ""])
  })
})

layer(aServer, realClock)("a client of both protocol versions", (it) => {
  it.effect("finds the new version while its address is limited, and while the database is unreachable", function* () {
    const { url: database } = yield* LocalDatabase
    const proxy = yield* PgProxy.make(Redacted.value(database))
    const url = yield* anotherServer({}, { databaseUrl: Redacted.make(proxy.url) })
    const headers = { "x-forwarded-for": undefined }
    const calls = yield* Effect.forEach(
      Array.from({ length: 121 }),
      () => send({ url, headers, method: "tools/call", params: { name: "none" } }),
      { concurrency: 8 },
    )
    const limited = calls.filter(({ status }) => status === 429)
    assert.lengthOf(limited, 1)
    assert.deepStrictEqual([limited[0]?.reply.error?.code, limited[0]?.reply.id], [-32600, 1])
    const long = yield* send({ url, headers, method: "tools/list", params: { filler: "x".repeat(4_096) } })
    assert.strictEqual(long.status, 429, "a long body is not read for nothing")
    proxy.refuse(true)
    proxy.cutAll()
    const { client, transport } = yield* Effect.orDie(New.connect(`${url}/mcp`, "auto"))
    assert.strictEqual(transport.protocolVersion, stateless)
    assert.lengthOf((yield* Effect.promise(() => client.listTools())).tools, names.length)
  })
})
