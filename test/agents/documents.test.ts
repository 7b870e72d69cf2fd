/** The documents are enough: an agent that is given the address of the tools, and nothing else, does everything. */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { unescaped } from "../lab/Html.ts"
import { sandbox } from "../lab/browser/Guide.ts"
import { connect } from "../lab/McpClient.ts"
import { patience } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { ask, layer as world, newPayer, TestServer } from "../lab/Fixture.ts"
import { chainClient } from "../lab/Chain.ts"
import { Agent, type Block, programOf, type Request, templateOf } from "../lab/DocumentAgent.ts"
import { assert, suite } from "../lab/Suites.ts"

/** The place of all requests, as the tools' instructions name it. */
const documentOf = Effect.fnUntraced(function* (tools: string) {
  const { client } = yield* connect(tools)
  const [address = "none"] = /http\S+\.txt/u.exec(client.getInstructions() ?? "") ?? []
  const { status, text } = yield* ask(address)
  assert.strictEqual(status, 200, address)
  return text
})

const document = Effect.flatMap(TestServer, ({ url }) => documentOf(`${url}/mcp`))

const newAgent = (before?: (request: Request) => Promise<void>) =>
  new Agent(privateKeyToAccount(generatePrivateKey()), before)

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
  const [row] = yield* sql<Record<"settled" | "attempts" | "stones" | "revealed" | "candles" | "unsealed", bigint>>`
    SELECT (SELECT count(*) FROM payment_attempts) AS attempts,
      (SELECT count(*) FROM payment_attempts WHERE state = 'settled') AS settled,
      (SELECT count(*) FROM witness_stones) AS stones, (SELECT count(*) FROM witness_reveals) AS revealed,
      (SELECT count(*) FROM candles) AS candles, (SELECT count(*) FROM candle_unseals) AS unsealed`
  return row
})

const everything = { attempts: 2n, settled: 2n, stones: 1n, revealed: 1n, candles: 1n, unsealed: 1n }

suite("an agent that has only the documents", sandbox(), (it) => {
  it("funds itself, buys, reveals, unseals, checks the chain and uses a room", function* () {
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
    assert.strictEqual(left, 10_000_000n - 10_000n - 1_000_000n, "charged once for each")
  })

  it("reads the same program on the page and in Markdown", function* ({ url }) {
    const program = programOf(yield* document)
    assert.isAbove(program.length, 20)
    const plain = yield* ask(`${url}/for-agents`, { headers: { accept: "text/markdown" } })
    assert.deepStrictEqual(programOf(plain.text), program)
    const page = yield* ask(`${url}/for-agents`, { headers: { accept: "text/html" } })
    assert.deepStrictEqual(programOfPage(page.text), program)
  })

  it("reads the true limits, and how long to wait at one of them", function* () {
    const text = yield* document
    const agent = newAgent()
    const program = programOf(text)
    yield* Effect.promise(() => agent.follow(program))
    const told = new Map([...text.matchAll(/^\| `([a-z-]+)` \| (\d+) in (\d+) s \|/gmu)].map((row) => [row[1], row]))
    const policies = agent.steps.flatMap(({ headers }) => (headers.get("ratelimit-policy") ?? "").split(", "))
    const named = [...new Set(policies)].flatMap((policy) => {
      const found = /^"([a-z-]+)";q=(\d+);w=(\d+)$/u.exec(policy)
      return found === null ? [] : [found]
    })
    assert.isAtLeast(named.length, 6, "rooms say what their limits are")
    for (const [, name, quota, seconds] of named) assert.deepStrictEqual(told.get(name)?.slice(2), [quota, seconds])

    const creates = program.map(({ text: block }) => templateOf(block)).find(({ line }) => line.endsWith("/api/rooms"))
    if (creates === undefined) return assert.fail("no document says how to create a room")
    const more = newAgent()
    let wait: string | null = null
    while (wait === null && more.steps.length < 20) {
      const { response } = yield* Effect.promise(() => more.send(creates))
      wait = response.status === 429 ? response.headers.get("retry-after") : null
    }
    assert.isAbove(Number(wait), 0)
    const made = [...agent.steps, ...more.steps].filter(({ request, status }) => {
      return status === 201 && `${request.method} ${request.url}` === creates.line
    })
    // One more was made by the test before this one.
    assert.strictEqual(String(made.length + 1), told.get("creations-hour")?.[2])
  })
})

suite("an agent whose payment takes long", sandbox({}, { patience: Duration.millis(patience(0.5)) }), (it) => {
  it("reads a 202, does not pay again, and polls until it has the outcome", function* () {
    const chain = yield* LocalChain
    const client = chainClient(chain.rpcUrl)
    let questions = 0
    const agent = newAgent(async ({ headers }) => {
      if ("payment-signature" in headers) {
        questions = 0
        await client.setAutomine(false)
      } else if (agent.steps.at(-1)?.status === 202 && ++questions === 2) {
        await client.setAutomine(true)
        await client.mine({ blocks: 1 })
      }
    })
    const program = programOf(yield* document)
    yield* Effect.promise(() => agent.follow(program))
    const unknown = agent.steps.filter(({ status }) => status === 202)
    assert.isAtLeast(unknown.length, 4, "each payment was unknown at first, and asked for more than once")
    const signed = agent.steps.filter(({ request }) => "payment-signature" in request.headers)
    assert.lengthOf(signed, 2, "one signature for each act")
    assert.deepEqual(yield* acts, everything)
  })
})

suite("an agent that pays with real money", world(), (it) => {
  it("is told so, and pays from its own wallet", function* () {
    const agent = new Agent(yield* newPayer())
    const program = programOf(yield* document)
    yield* Effect.promise(() => agent.follow(program))
    assert.throws(() => agent.value("balance"), /Nothing says/u)
    assert.deepEqual(yield* acts, everything)
  })

  it("can read every document whole", function* () {
    assert.isBelow(Buffer.byteLength(yield* document), 16_384)
  })
})
