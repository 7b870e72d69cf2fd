/** MCP's cards: where agents learn of the tools, their revisions and their icon. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { connect } from "../lab/McpNewClient.ts"
import { valuesOf } from "../lab/Assertions.ts"
import { ask, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

layer(world(), realClock)("the cards of the tools", (it) => {
  it.effect("name both protocol versions in every place that agents read", function* () {
    const { url } = yield* TestServer
    const card = yield* ask(`${url}/mcp/server-card`, { headers: { origin: "https://agent.example" } })
    assert.strictEqual(card.headers.get("content-type"), "application/mcp-server-card+json")
    assert.strictEqual(card.headers.get("cache-control"), "public, max-age=3600")
    assert.include(card.headers.get("access-control-expose-headers"), "ETag")
    const tag = card.headers.get("etag") ?? ""
    assert.strictEqual((yield* ask(`${url}/mcp/server-card`, { headers: { "if-none-match": tag } })).status, 304)
    const wellKnown = yield* ask(`${url}/.well-known/mcp/server-card.json`)
    assert.deepEqual(JSON.parse(card.text), wellKnown.json)
    const remotes: ReadonlyArray<{ readonly url: string }> = JSON.parse(card.text).remotes
    assert.deepStrictEqual(valuesOf(remotes, "url"), [`${url}/mcp`, `${url}/api/mcp`])
    for (const path of ["/mcp/server-card", "/.well-known/agent.json", "/llms.txt"]) {
      const { text } = yield* ask(`${url}${path}`)
      for (const version of ["2026-07-28", "2025-06-18"]) assert.include(text, version, path)
    }
  })

  it.effect("of a public server have its own name, addresses and an icon that exists", function* () {
    const here = yield* anotherServer({}, { publicUrl: "https://altar.example" })
    const { json } = yield* ask(`${here}/.well-known/mcp/server-card.json`)
    const card = JSON.parse(JSON.stringify(json))
    assert.deepInclude(card, { name: "example.altar/spirit-altar", websiteUrl: "https://altar.example/for-agents" })
    const remotes: ReadonlyArray<{ readonly url: string }> = card.remotes
    assert.deepStrictEqual(valuesOf(remotes, "url"), ["https://altar.example/mcp", "https://altar.example/api/mcp"])
    const { client } = yield* Effect.orDie(connect(`${here}/mcp`, "auto"))
    const { tools } = yield* Effect.promise(() => client.listTools())
    for (const { icons } of tools) assert.deepEqual<unknown>(icons, card.icons)
    const icon = yield* ask(card.icons[0].src.replace("https://altar.example", here))
    assert.strictEqual(icon.headers.get("content-type"), "image/png")
  })
})
