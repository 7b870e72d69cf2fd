/** The tools as the official client meets them: listed, called, checked against their schemas. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chainHash } from "../../src/altar/Hashes.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { call, connect } from "../lab/McpClient.ts"
import { ask, newCommitment, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { valuesOf } from "../lab/Assertions.ts"

const names = ["field", "spirits", "altar", "buy_kit", "verify_witness"]

const nowhere = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

const refusal = (text: string): { readonly ok: false; readonly code: string; readonly message: string } =>
  JSON.parse(text)

layer(world(), realClock)("over MCP,", (it) => {
  it.effect("a session begins, answers a ping, and lists five tools that change nothing", function* () {
    const { url } = yield* TestServer
    const { client, transport } = yield* connect(`${url}/mcp`)
    const { version } = (yield* ask(`${url}/api/health`)).json
    assert.deepInclude(Object(client.getServerVersion()), { name: "spirit-altar", version })
    assert.include(client.getInstructions() ?? "", `Interface 0.15.0 (openapi.json), software ${String(version)}.`)
    assert.deepStrictEqual(client.getServerCapabilities(), { tools: { listChanged: false } })
    assert.include(client.getInstructions() ?? "", "sign and pay nothing")
    assert.strictEqual(transport.protocolVersion, "2025-06-18")
    assert.isUndefined(transport.sessionId, "nothing to remember a client by")
    assert.deepStrictEqual(yield* Effect.promise(() => client.ping()), {})
    const { tools } = yield* Effect.promise(() => client.listTools())
    assert.deepStrictEqual(valuesOf(tools, "name"), names)
    for (const { annotations, inputSchema, name, outputSchema } of tools) {
      assert.strictEqual(annotations?.readOnlyHint, true, name)
      assert.strictEqual(annotations?.destructiveHint, false, name)
      assert.strictEqual(inputSchema.type, "object", name)
      assert.strictEqual(inputSchema["additionalProperties"], false, name)
      assert.strictEqual(outputSchema?.type, "object", name)
      assert.notInclude(JSON.stringify([inputSchema, outputSchema]), "$ref", name)
      JSON.stringify([inputSchema, outputSchema], (_, one) => {
        const { properties, type } = Object(one)
        if ([type].flat().includes("object")) assert.isObject(properties, `${name}: ${JSON.stringify(one)}`)
        return one
      })
    }
  })

  it.effect("the list of tools is under 3,500 tokens, and names each action once", function* () {
    const { url } = yield* TestServer
    const { client } = yield* connect(`${url}/mcp`)
    const listed = yield* Effect.promise(() => client.listTools())
    // A token of this JSON is four characters and a little more.
    assert.isBelow(JSON.stringify(listed).length / 4, 3_500)
    const text = JSON.stringify(listed.tools)
    assert.notMatch(text, /\\\\p\{|"examples"|"allOf"/u)
    const kit = listed.tools.find(({ name }) => name === "buy_kit")
    assert.deepStrictEqual(
      Object(kit?.inputSchema.properties?.["action"]).enum,
      sales.map(({ sale }) => sale.name),
    )
  })

  it.effect("the tools field, spirits and altar return the routes' answers", function* () {
    const { url } = yield* TestServer
    const connected = yield* connect(`${url}/api/mcp`)
    yield* Effect.promise(() => connected.client.listTools())
    const told = Effect.fnUntraced(function* (tool: string, args: Record<string, unknown> = {}) {
      const called = yield* call(connected, tool, args)
      assert.isFalse(called.isError, called.text)
      assert.deepEqual(JSON.parse(called.text), called.structured, tool)
      return called.structured
    })
    assert.deepEqual(yield* told("field"), (yield* ask(`${url}/api/field`)).json)
    for (const [tool, path, list, id, left] of [
      ["spirits", "/api/spirits", "spirits", "id", ["kin", "habitat", "habit", "description", "altarLine", "image"]],
      ["altar", "/api/altars", "altars", "spirit", ["altarLine", "candles"]],
    ] as const) {
      const json = yield* read(`${path}`)
      const entries: ReadonlyArray<Record<string, unknown>> = json[list]
      const brief = entries.map((entry) =>
        Object.fromEntries(Object.entries(entry).filter(([name]) => !left.some((one) => one === name))),
      )
      assert.deepEqual(yield* told(tool), { ...json, [list]: brief }, `${tool} of all, in brief`)
      assert.deepEqual(
        yield* told(tool, { spirit: "rain-crow" }),
        { ...json, [list]: entries.filter((entry) => entry[id] === "rain-crow") },
        `${tool} of one, in full`,
      )
    }
  })

  it.effect("verify_witness recomputes a link and says what that proves", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const connected = yield* connect(`${url}/mcp`)
    yield* Effect.promise(() => connected.client.listTools())
    yield* buy()
    const { record } = yield* buy()
    const { structured } = yield* call(connected, "verify_witness", { witnessId: record.id })
    const verification = JSON.parse(JSON.stringify(structured))
    assert.isTrue(verification.verified)
    assert.strictEqual(verification.link.recomputed, record.chainHash)
    assert.strictEqual(chainHash(verification.stone), record.chainHash, "the stone is all it takes")
    assert.isBelow(JSON.stringify(verification).split(record.transaction).length, 6, "the stone is not repeated")
    assert.deepStrictEqual(verification.predecessor, { sequence: 1, chainHash: record.previousHash, holds: true })
    assert.match(verification.doesNotProve.join(" "), /authorship/u)
    const { chain, wallet } = verification.checkYourself
    assert.strictEqual(chain, `${url}/api/witness/chain?from=2&limit=1`)
    assert.strictEqual(wallet, `${url}/api/wallets/${record.payer}`)

    yield* sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = 1`
    const broken = yield* call(connected, "verify_witness", { witnessId: record.id })
    assert.isTrue(broken.isError)
    assert.strictEqual(refusal(broken.text).code, "chain_broken")

    const nobody = yield* call(connected, "verify_witness", { witnessId: nowhere })
    assert.isTrue(nobody.isError)
    assert.strictEqual(refusal(nobody.text).code, "witness_not_found")
  })

  it.effect("a refusal is a tool result", function* () {
    const { url } = yield* TestServer
    const connected = yield* connect(`${url}/mcp`)
    const refused = [
      ["altar", { spirit: "nobody" }, /spirit: /u],
      ["verify_witness", {}, /witnessId: Must be present/u],
      ["verify_witness", { witnessId: null }, /witnessId: Must be present/u],
      ["verify_witness", { witnessId: "", id: "" }, /witnessId: Must be present/u],
      ["verify_witness", { witnessId: "x" }, /witnessId: /u],
      ["verify_witness", { id: "x" }, /id: /u],
      ["verify_witness", { witnessId: nowhere, id: nowhere.replace("3", "4") }, /witnessId: Must be the same/u],
    ] as const
    for (const [tool, args, where] of refused) {
      const { isError, text } = yield* call(connected, tool, args)
      assert.isTrue(isError, tool)
      assert.strictEqual(refusal(text).code, "bad_request")
      assert.match(refusal(text).message, where)
    }
  })
})
