/** The documents are enough: an agent that is given the address of the tools, and nothing else, does everything. */
import { assert, layer } from "../lab/It.ts"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { sandbox } from "../lab/browser/Guide.ts"
import { connect } from "../lab/McpClient.ts"
import { until } from "../lab/Eventually.ts"
import { answersCounted } from "../lab/Metrics.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { forward, serve } from "../lab/proxy/HttpServer.ts"
import { anotherServer, ask, realClock, TestServer } from "../lab/Fixture.ts"
import { chainClient } from "../lab/Chain.ts"
import { follow, programOf } from "../lab/DocumentAgent.ts"
import { unescaped } from "../lab/Sources.ts"

/** The place of all requests, as the tools' instructions name it. */
const document = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { client } = yield* connect(`${url}/mcp`)
  const [address = "none"] = /http\S+\.txt/u.exec(client.getInstructions() ?? "") ?? []
  const { status, text } = yield* ask(address)
  assert.strictEqual(status, 200, address)
  return text
})

const acts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<
    Record<"settled" | "attempts" | "stones" | "revealed" | "candles" | "lights" | "unsealed", bigint>
  >`
    SELECT (SELECT count(*) FROM payment_attempts) AS attempts,
      (SELECT count(*) FROM payment_attempts WHERE state = 'settled') AS settled,
      (SELECT count(*) FROM witness_stones) AS stones, (SELECT count(*) FROM reveals JOIN witness_stones USING (id)) AS revealed,
      (SELECT count(*) FROM candles) AS candles,
      (SELECT count(*) FROM candles WHERE parent_id IS NOT NULL) AS lights, (SELECT count(*) FROM reveals JOIN candles USING (id)) AS unsealed`
  return row
})

const everything = { attempts: 6n, settled: 6n, stones: 1n, revealed: 1n, candles: 2n, lights: 1n, unsealed: 1n }
const cost = 2_040_000n

const newAgent = () => {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  const balance = Purchase.onChain((client, { asset }) =>
    client.readContract({ address: asset, abi: Purchase.token, functionName: "balanceOf", args: [address] }),
  )
  const does = (text: string) => Effect.promise(() => follow(programOf(text), key))
  return { address, balance, does, key }
}

layer(sandbox(), realClock)("an agent that has only the documents", (it) => {
  it.effect("funds itself, buys every act, reveals, unseals, checks the chain and uses a room", function* () {
    const agent = newAgent()
    const { stdout } = yield* agent.does(yield* document)
    assert.deepEqual(yield* acts, everything)
    assert.match(stdout, /"entries":\[\{"sequence":1,.*"next":null/u)
    assert.include(stdout, '"text":"The heron will return by May."')
    assert.include(stdout, '"text":"The stone is set."')
    assert.include(stdout, '"deleted":true')
    assert.strictEqual(yield* agent.balance, 10_000_000n - cost, "charged once for each")
  })

  it.effect("repeats a purchase whose answer was lost, and pays once", function* () {
    const { url } = yield* TestServer
    const way = { behind: "", lost: 0 }
    const publicUrl = yield* serve(async (path, body, request) => {
      // The sandbox's faucet is the first server's.
      const reply = await forward(path.startsWith("/sandbox") ? url : way.behind, path, body, request)
      if (request.headers["payment-signature"] === undefined || way.lost > 0) return { ...reply, body: "" }
      way.lost += 1
      return "drop"
    })
    way.behind = yield* anotherServer({}, { publicUrl })
    const agent = newAgent()
    const before = yield* acts
    const program = programOf((yield* ask(`${publicUrl}/llms.txt`)).text)
    const stone = program.findIndex((block) => block.startsWith("WORDS="))
    const [first = "", repeated = ""] = program.slice(stone)
    // The shell goes on after the lost answer, as an agent does.
    const blocks = [
      ...program.slice(0, stone),
      // An earlier request's answer does not stand in for the lost one.
      `set +e\n${first}\necho "LOST[$(cat answer.json)]"\nset -e`,
      repeated,
      'echo "STATUS $STATUS $(get .record.id < answer.json)"',
    ]
    const { stdout } = yield* Effect.promise(() => follow(blocks, agent.key))
    assert.strictEqual(way.lost, 1)
    assert.include(stdout, "LOST[]")
    assert.match(stdout, /STATUS 20[01] [0-9a-f-]{36}\n/u)
    const after = yield* acts
    for (const name of ["attempts", "settled", "stones"] as const)
      assert.strictEqual(after?.[name], (before?.[name] ?? 0n) + 1n, name)
    assert.strictEqual(yield* agent.balance, 10_000_000n - 10_000n, "charged once")
  })

  it.effect.each([
    ["another recipient", /PAY_TO=\S+/u, `PAY_TO=0x${"1".repeat(40)}`],
    ["no recipient", /PAY_TO=\S+/u, "PAY_TO="],
    ["a lower maximum", /MAX=10000/u, "MAX=9999"],
    ["no maximum", /MAX=10000/u, "MAX="],
    ["another asset", /offer\.asset !== "0x\w+"/u, `offer.asset !== "0x${"1".repeat(40)}"`],
    ["another network", /offer\.network !== "[^"]+"/u, 'offer.network !== "eip155:1"'],
  ] as const)("signs nothing where it expects %s", ([, expected, other]) =>
    Effect.gen(function* () {
      const before = yield* acts
      const changed = (yield* document).replace(expected, other)
      const stderr = yield* Effect.promise(() =>
        follow(programOf(changed)).then(
          () => "it went on",
          (error: unknown) => String(Object(error).stderr),
        ),
      )
      assert.match(stderr, /Nothing was signed|Cannot convert/u)
      assert.notInclude(stderr, "payment-signature")
      assert.deepEqual(yield* acts, before)
    }),
  )

  it.effect("reads the same commands on the page, in few tokens", function* () {
    const { url } = yield* TestServer
    const text = yield* document
    const program = programOf(text)
    assert.isAbove(program.length, 10)
    // A token is four characters and a little more.
    assert.isBelow(text.length / 4, 3_500, String(text.length))
    const page = yield* ask(`${url}/for-agents`, { headers: { accept: "text/html" } })
    const shown = [...page.text.matchAll(/<pre[^>]*><code[^>]*>([\s\S]*?)<\/code>/gu)]
    assert.deepStrictEqual(
      shown.map(([, block = ""]) => unescaped(block)),
      [
        `Read ${url}/llms.txt, then set a stone for me. Ask me for my words and the maximum price before you sign.`,
        ...program,
      ],
    )
  })
})

/** How many purchases were answered before they had their outcome. */
const unsettled = Effect.map(answersCounted, (counts) =>
  [...counts].reduce((sum, [name, count]) => (/^\/api\/(?!mcp).* 202$/u.test(name) ? sum + count : sum), 0),
)

layer(sandbox({}, { patience: Duration.millis(500) }), realClock)("an agent whose payment takes long", (it) => {
  it.effect("reads a 202, does not pay again, and polls until it has the outcome", function* () {
    const client = chainClient((yield* LocalChain).rpcUrl)
    const agent = newAgent()
    const text = yield* document
    const automine = (enabled: boolean) => Effect.promise(() => client.setAutomine(enabled))
    const before = yield* unsettled
    // The wallet has its money, and no block comes until the first request has stopped waiting for one.
    yield* agent.balance.pipe(
      until("the wallet is never filled", (held) => held > 0n),
      Effect.andThen(automine(false)),
      Effect.andThen(unsettled.pipe(until("no purchase is answered with 202", (count) => count > before))),
      Effect.andThen(automine(true)),
      Effect.andThen(Effect.promise(() => client.mine({ blocks: 1 }))),
      Effect.forkScoped,
    )
    const { stderr } = yield* agent.does(text)
    assert.include(stderr, "[ 202 = 202 ]")
    assert.deepEqual(yield* acts, everything)
    assert.strictEqual(yield* agent.balance, 10_000_000n - cost, "charged once for each")
  })
})
