/** The date of a stone without its altar: the block of a payment that names the sealed words. */
import { assert, layer } from "../lab/It.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Duration, Effect, Layer, Option } from "effect"
import { lost, notFinal, unnamed } from "../../schema/altar/StoneDate.ts"
import { inLowerCase } from "../../src/payments/x402/chain/Eip3009.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { buyerOf, newCustomer } from "../lab/buyer/LibraryBuyer.ts"
import { buy, mine, onChain } from "../lab/buyer/Purchase.ts"
import { checked, key, receipts } from "../lab/buyer/ReceiptFiles.ts"
import { until } from "../lab/Eventually.ts"
import { ask, newKey, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { call, connect } from "../lab/McpClient.ts"

const house = world({ sweepEvery: Duration.millis(200) }, { receipts })

/** Everything that states the date of a stone: record, page, receipt file and tool. */
const statements = Effect.fnUntraced(function* (id: string) {
  const { url } = yield* TestServer
  const tools = yield* connect(`${url}/mcp`)
  const { dated } = yield* read(`/api/witness/${id}`)
  const page = (yield* ask(`${url}/witness/${id}`, { headers: { accept: "text/html" } })).text
  const file = JSON.parse((yield* ask(`${url}/witness/${id}.receipt.json`)).text)
  const tool = JSON.parse((yield* call(tools, "verify_witness", { witnessId: id })).text)
  assert.include(page.replaceAll(/\s+/gu, " ").replaceAll("&#39;", "'"), dated.says)
  assert.deepStrictEqual([file.dated, tool.dated], [dated, dated.says])
  return dated
})

const lines = Effect.fnUntraced(function* (id: string) {
  const { url } = yield* TestServer
  const { rpcUrl } = yield* LocalChain
  const { text } = yield* ask(`${url}/witness/${id}.receipt.json`)
  const { ended, lines } = yield* checked(text, { key: Option.some(key), rpc: Option.some(rpcUrl) })
  assert.strictEqual(ended._tag, "Success", lines.join("\n"))
  return lines.join("\n")
})

layer(Layer.merge(NodeServices.layer, house), realClock)("the date of a stone", (it) => {
  it.effect("is that of the final block whose transfer names its words, wherever it is stated", function* () {
    const at = yield* newCustomer()
    const altar = buyerOf(at)
    const settled = yield* Effect.promise(() => altar.witness({ words: "The heron will return.", key: newKey() }))
    assert.notProperty(settled, "dated", "no stored answer has it")
    const { id, transaction } = settled.record
    const early = yield* statements(id)
    if (early.block === null) assert.strictEqual(early.says, notFinal)
    assert.include(yield* lines(id), `NOT CHECKED  date: ${notFinal}`)
    yield* mine(4)
    yield* read(`/api/witness/${id}`).pipe(until("it is never dated", ({ dated }) => dated.block !== null))
    const { block, says, time } = yield* statements(id)
    const { blockNumber } = yield* onChain((client) => client.getTransactionReceipt({ hash: inLowerCase(transaction) }))
    const { timestamp } = yield* onChain((client) => client.getBlock({ blockNumber }))
    assert.deepStrictEqual([block, Date.parse(time)], [Number(blockNumber), Number(timestamp) * 1000])
    assert.match(
      says,
      new RegExp(`^Sealed at the latest on \\d+ \\w+ \\d{4}, [\\d:]{8} UTC: .* block ${block}\\.$`, "u"),
    )
    assert.include(yield* lines(id), `HOLDS        date: ${says}`)
  })

  it.effect("is the word of altar and cosigners where the payment names nothing", function* () {
    const { record } = yield* buy("/api/witness")
    yield* mine(4)
    assert.deepStrictEqual(yield* statements(record.id), { block: null, time: null, says: unnamed })
    assert.include(yield* lines(record.id), `NOT CHECKED  date: ${unnamed}`)
    for (const sentence of [lost, notFinal, unnamed]) assert.notInclude(sentence, "nonce")
  })
})
