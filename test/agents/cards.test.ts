/** MCP's cards: where agents and the registry learn of the tools, their revisions and their icon. */
import { Effect, Schema } from "effect"
import { ask, layer as world } from "../lab/Fixture.ts"
import { connect } from "../lab/McpNewClient.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, suite, valuesOf } from "../lab/Suites.ts"

const https = Schema.String.check(Schema.isPattern(/^https:\/\/\S{1,240}$/u))
const named = (maximum: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maximum))

/** The registry's `ServerDetail` of 2025-12-11, as far as a server without packages uses it. */
const ServerJson = Schema.Struct({
  $schema: Schema.Literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: named(200).check(Schema.isPattern(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/u)),
  title: named(100),
  description: named(100),
  version: named(255).check(Schema.isPattern(/^\d+\.\d+\.\d+$/u)),
  websiteUrl: https,
  icons: Schema.Array(
    Schema.Struct({
      src: https,
      mimeType: Schema.Literals(["image/png", "image/jpeg", "image/svg+xml", "image/webp"]),
      sizes: Schema.Array(Schema.String.check(Schema.isPattern(/^(?:\d+x\d+|any)$/u))),
    }),
  ),
  remotes: Schema.Array(Schema.Struct({ type: Schema.Literals(["streamable-http", "sse"]), url: https })),
})

suite("the cards of the tools", world(), (it) => {
  it("name both protocol versions in every place that agents read", function* ({ url }) {
    const card = yield* ask(`${url}/mcp/server-card`)
    assert.strictEqual(card.headers.get("content-type"), "application/mcp-server-card+json")
    assert.strictEqual(card.headers.get("cache-control"), "public, max-age=3600")
    assert.include(card.headers.get("access-control-expose-headers"), "ETag")
    const tag = card.headers.get("etag") ?? ""
    assert.strictEqual((yield* ask(`${url}/mcp/server-card`, { headers: { "if-none-match": tag } })).status, 304)
    const wellKnown = yield* ask(`${url}/.well-known/mcp/server-card.json`)
    assert.deepEqual(JSON.parse(card.text), wellKnown.json)
    const remotes: ReadonlyArray<{ readonly url: string }> = JSON.parse(card.text).remotes
    assert.deepStrictEqual(valuesOf(remotes, "url"), [`${url}/mcp`, `${url}/api/mcp`])
    const catalog = yield* ask(`${url}/.well-known/ai-catalog.json`)
    assert.strictEqual(catalog.headers.get("content-type"), "application/ai-catalog+json")
    assert.strictEqual(JSON.parse(catalog.text).entries[0].url, `${url}/mcp/server-card`)
    for (const path of ["/mcp/server-card", "/.well-known/agent.json", "/.well-known/agent-card.json", "/llms.txt"]) {
      const { text } = yield* ask(`${url}${path}`)
      for (const version of ["2026-07-28", "2025-06-18"]) assert.include(text, version, path)
    }
  })
})

suite("a public server", world(), (it) => {
  it("has an entry for MCP's registry, and an icon that exists", function* () {
    const here = yield* anotherServer({}, { publicUrl: "https://altar.example" })
    const { json } = yield* ask(`${here}/.well-known/mcp/server.json`)
    const entry = Schema.decodeUnknownSync(ServerJson, { onExcessProperty: "error" })(json)
    assert.deepInclude(entry, { name: "example.altar/spirit-altar" })
    assert.deepStrictEqual(entry.remotes, [{ type: "streamable-http", url: "https://altar.example/mcp" }])
    const { client } = yield* Effect.orDie(connect(`${here}/mcp`, "auto"))
    const { tools } = yield* Effect.promise(() => client.listTools())
    for (const { icons } of tools) assert.deepEqual<unknown>(icons, entry.icons)
    const icon = yield* ask(entry.icons[0]?.src.replace("https://altar.example", here) ?? "")
    assert.strictEqual(icon.headers.get("content-type"), "image/png")
  })
})
