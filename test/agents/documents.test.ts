/** The documents are enough: an agent that is given the address of the tools, and nothing else, does everything. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { unescaped } from "../lab/Html.ts"
import { sandbox } from "../lab/browser/Guide.ts"
import { connect } from "../lab/McpClient.ts"
import { patience } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { ask, world, newPayer, TestServer } from "../lab/Fixture.ts"
import { chainClient } from "../lab/Chain.ts"
import { Agent, type Block, programOf, type Request } from "../lab/DocumentAgent.ts"
import { realClock } from "../lab/TestServices.ts"

/** The place of all requests, as the tools' instructions name it. */
const document = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { client } = yield* connect(`${url}/mcp`)
  const [address = "none"] = /http\S+\.txt/u.exec(client.getInstructions() ?? "") ?? []
  const { status, text } = yield* ask(address)
  assert.strictEqual(status, 200, address)
  return text
})

const newAgent = (before?: (request: Request) => Promise<void>, secondMillis?: number) =>
  new Agent(privateKeyToAccount(generatePrivateKey()), before, secondMillis)

/** The same blocks as a browser shows them. */
const programOfPage = (page: string): ReadonlyArray<Block> =>
  [...page.matchAll(/<pre\s+class="(http|values)"[^>]*><code[^>]*>([\s\S]*?)<\/code>/gu)].map(
    ([, language, text = ""]) => ({
      language: language === "http" ? "http" : "values",
      text: unescaped(text),
    }),
  )

const acts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<
    Record<"settled" | "attempts" | "stones" | "revealed" | "candles" | "lights" | "unsealed", bigint>
  >`
    SELECT (SELECT count(*) FROM payment_attempts) AS attempts,
      (SELECT count(*) FROM payment_attempts WHERE state = 'settled') AS settled,
      (SELECT count(*) FROM witness_stones) AS stones, (SELECT count(*) FROM witness_reveals) AS revealed,
      (SELECT count(*) FROM candles) AS candles,
      (SELECT count(*) FROM candles WHERE parent_id IS NOT NULL) AS lights, (SELECT count(*) FROM candle_unseals) AS unsealed`
  return row
})

const everything = { attempts: 3n, settled: 3n, stones: 1n, revealed: 1n, candles: 2n, lights: 1n, unsealed: 1n }

layer(sandbox(), realClock)("an agent that has only the documents", (it) => {
  it.effect("funds itself, buys, reveals, unseals, checks the chain and uses a room", () =>
    Effect.gen(function* () {
      const agent = newAgent()
      const program = programOf(yield* document)
      yield* Effect.promise(() => agent.follow(program))
      assert.deepEqual(yield* acts, everything)
      assert.strictEqual(agent.value("balance"), "10000000")
      assert.strictEqual(agent.value("revealed"), "The heron will return by May.")
      assert.isTrue(agent.value("holds"))
      assert.isTrue(agent.value("deleted"))
      const [said, ...others]: ReadonlyArray<{ text: string }> = JSON.parse(JSON.stringify(agent.value("messages")))
      assert.deepStrictEqual([said?.text, others.length], ["The stone is set.", 0])
      const { address } = agent.account
      const left = yield* Purchase.onChain((client, { asset }) =>
        client.readContract({ address: asset, abi: Purchase.token, functionName: "balanceOf", args: [address] }),
      )
      assert.strictEqual(left, 10_000_000n - 10_000n - 2_000_000n, "charged once for each")
    }),
  )

  it.effect("reads the same program on the page and in Markdown", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const text = yield* document
      const program = programOf(text)
      assert.isAbove(program.length, 20)
      assert.isBelow(Buffer.byteLength(text), 16_384, "agents read so much of a page")
      const plain = yield* ask(`${url}/for-agents`, { headers: { accept: "text/markdown" } })
      assert.deepStrictEqual(programOf(plain.text), program)
      const page = yield* ask(`${url}/for-agents`, { headers: { accept: "text/html" } })
      assert.deepStrictEqual(programOfPage(page.text), program)
    }),
  )
})

const slow = { patience: Duration.millis(patience(0.5)), sweepEvery: Duration.seconds(1) }

layer(sandbox({}, slow), realClock)("an agent whose payment takes long", (it) => {
  it.effect("reads a 202, does not pay again, and polls until it has the outcome", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const client = chainClient(chain.rpcUrl)
      let questions = 0
      const agent = newAgent(async ({ headers }) => {
        if (agent.steps.at(-1)?.status === 202) {
          if (++questions !== 2) return
          await client.setAutomine(true)
          await client.mine({ blocks: 1 })
        } else if ("payment-signature" in headers) {
          questions = 0
          await client.setAutomine(false)
        }
      }, 200)
      const program = programOf(yield* document)
      yield* Effect.promise(() => agent.follow(program))
      const unknown = agent.steps.filter(({ status }) => status === 202)
      assert.isAtLeast(unknown.length, 6, "each payment was unknown at first, and asked for more than once")
      const signed = agent.steps.flatMap(({ request }) => request.headers["payment-signature"] ?? [])
      assert.strictEqual(new Set(signed).size, 3, "one signature for each act")
      assert.deepEqual(yield* acts, everything)
    }),
  )
})

layer(world(), realClock)("an agent that pays with real money", (it) => {
  it.effect("is told so, and pays from its own wallet", () =>
    Effect.gen(function* () {
      const agent = new Agent(yield* newPayer())
      const program = programOf(yield* document)
      yield* Effect.promise(() => agent.follow(program))
      assert.throws(() => agent.value("balance"), /Nothing says/u)
      assert.deepEqual(yield* acts, everything)
    }),
  )
})
