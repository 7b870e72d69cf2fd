/** An MCP host that adds members of its own to every call and sends empty strings for what it leaves out. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { encode } from "../lab/buyer/Payment.ts"
import { buy } from "../lab/buyer/Purchase.ts"
import { ask, newCommitment, newKey, newPayer, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { call, connect } from "../lab/McpClient.ts"

/** Members that n8n, Cursor and other hosts add to every call. */
const added = {
  toolCallId: "call_1",
  sessionId: "s",
  chatInput: { text: ["hi"] },
  random_string: "dummy",
  familiar: "",
  constructor: 7,
  "\u202eevil\n": 1,
}

const addedNames = Object.keys(added).map((argument) => argument.replace(/[\u202e\n]/gu, "\ufffd"))

layer(world(), realClock)("a host that speaks through the official client", (it) => {
  it.effect("chooses a spirit, buys by its kit, and verifies a stone, whatever it adds or leaves empty", function* () {
    const { url } = yield* TestServer
    const { record: earlier } = yield* buy()
    const connected = yield* connect(`${url}/mcp`)
    const { tools } = yield* Effect.promise(() => connected.client.listTools())
    const payer = yield* newPayer()

    /** Calls a tool as such a host does: every optional argument is there, and empty, or null. */
    const hosted = Effect.fnUntraced(function* (name: string, args: Record<string, unknown>) {
      const { properties = {}, required = [] } = tools.find((tool) => tool.name === name)?.inputSchema ?? assert.fail()
      const optional = Object.keys(properties).filter((argument) => !required.includes(argument))
      const plain = yield* call(connected, name, args)
      assert.notProperty(plain.structured, "ignored", name)
      for (const empty of ["", null]) {
        const blanks = Object.fromEntries(optional.map((argument) => [argument, empty]))
        const blank = yield* call(connected, name, { ...blanks, ...args })
        assert.isFalse(blank.isError, blank.text)
        assert.hasAllKeys(blank.structured, Object.keys(plain.structured), name)
      }
      const answer = yield* call(connected, name, { ...args, ...added })
      assert.isFalse(answer.isError, answer.text)
      assert.deepEqual(JSON.parse(answer.text), answer.structured, name)
      const { ignored, ...told } = JSON.parse(answer.text)
      assert.deepEqual(ignored, addedNames, `${name} names what it does not know`)
      return told
    })

    // It looks around.
    for (const name of ["field", "altar"]) yield* hosted(name, {})
    const [{ id: spirit }] = (yield* hosted("spirits", {})).spirits

    // The kit is a whole purchase. Its typed data is signed, and its request sent as it stands.
    const kit = yield* hosted("buy_kit", {
      action: "setWitnessStone",
      commitment: newCommitment(),
      spirit,
      payer: payer.address,
    })
    assert.isTrue(kit.complete)
    const signature = yield* Effect.promise(() => payer.signTypedData(kit.sign.typedData))
    const payment = { ...kit.payment, payload: { ...kit.payment.payload, signature } }
    const headers = { "idempotency-key": newKey(), "payment-signature": encode(payment) }
    const bought = yield* ask(kit.request.url, post(kit.request.body, headers))
    assert.strictEqual(bought.status, 201, bought.text)

    assert.strictEqual(JSON.parse(bought.text).record.spirit, spirit)

    // It verifies a stone that lay there before, by either name of the argument.
    const verification = yield* hosted("verify_witness", { witnessId: earlier.id })
    assert.isTrue(verification.verified)
    const byAnotherName = yield* call(connected, "verify_witness", { id: earlier.id, ...added })
    assert.strictEqual(Object(byAnotherName.structured["stone"]).id, earlier.id)
    assert.strictEqual(yield* authorizationsUsed({ account: payer }), 1, "charged once")

    // Of a thousand unknown members, an answer names twenty.
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]))
    for (const [name, args] of [
      ["field", {}],
      ["spirits", {}],
      ["altar", {}],
      ["buy_kit", { action: "takeIn", spirit }],
      ["verify_witness", { witnessId: earlier.id }],
    ] as const) {
      assert.deepInclude(Object(tools.find((tool) => tool.name === name)?.outputSchema?.properties?.["ignored"]), {
        type: "array",
      })
      const { structured } = yield* call(connected, name, { ...args, ...many })
      assert.isAtMost(Object(structured["ignored"]).length, 20)
    }
  })
})
