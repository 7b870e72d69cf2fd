/** Forged and refused payments cost the node few questions or none; honest payers are not delayed. */
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { signingLength } from "../../src/payments/x402/verification/SigningKey.ts"
import * as Thread from "../../src/platform/Thread.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { from, loopback } from "../lab/server/Rooms.ts"
import { ask, newCommitment, newKey, newPayer, post, TestServer } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { apart, assert, assertAnswer, live } from "../lab/Suites.ts"

// The built program: where it failed to start, the server would be right and slow.
live("the thread that checks signatures answers each check", function* () {
  const ask = yield* Thread.make<Uint8Array, Uint8Array>(Thread.programOf("signing-keys"))
  assert.deepStrictEqual([...(yield* ask(new Uint8Array(3 * signingLength)))], [0, 0, 0])
})

/** Sends stones that are signed for one offer. */
const seller = Effect.gen(function* () {
  const { url } = yield* TestServer
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, { method: "POST" }))
  return Effect.fnUntraced(function* (
    wallet: Parameters<typeof sign>[0],
    change: Parameters<typeof sign>[3] = {},
    more: Record<string, string> = {},
  ) {
    const payment = yield* sign(wallet, challenge.accepts[0], challenge.resource, change)
    const headers = { "idempotency-key": newKey(), "payment-signature": encode(payment), ...more }
    return yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, headers))
  })
})

const reads = ["eth_call", "eth_getCode", "eth_blockNumber", "eth_getLogs", "eth_getTransactionReceipt"]
const methods = [...reads, "eth_estimateGas"]

apart("a forged payment", proxiedServer("relayer", "20 seconds"), (it) => {
  it("in the name of one wallet asks the node once whether it has code, and nothing else", function* ({ rpc }) {
    const victim = yield* newPayer()
    const sell = yield* seller
    const asked: Array<string> = []
    for (const method of methods) rpc.arm(method, "holdBefore", () => (asked.push(method), false))
    for (let round = 0; round < 20; round++) {
      const answer = yield* sell(privateKeyToAccount(generatePrivateKey()), { from: victim.address })
      assertAnswer(answer, 402, "payment_invalid", "invalid_exact_evm_signature")
      assert.match(String(answer.json["message"]), /Nothing was charged\.$/u)
      assert.deepStrictEqual(asked, ["eth_getCode"])
    }
    assert.strictEqual((yield* sell(victim)).status, 201, "the wallet itself pays as ever")
    // A good one is let in and sent by the code of that moment, each asked for anew.
    assert.strictEqual(asked.filter((method) => method === "eth_getCode").length, 3)
  })
})

/** Payments of wallets that hold nothing: each is signed well, and the node has to be asked to refuse it. */
const refusedBy = Effect.fnUntraced(function* (address: string, count: number, concurrency: number) {
  const sell = yield* seller
  const wallets = yield* Effect.forEach(Array.from({ length: count }), () => newPayer(0n))
  const answers = yield* Effect.forEach(wallets, (wallet) => sell(wallet, {}, from(address)), { concurrency })
  return { answers, wallets: wallets.map(({ address }) => address.slice(2).toLowerCase()) }
})

const server = proxiedServer("relayer", "10 seconds", "1 hour", 50, {}, { trustedProxies: loopback })

apart("refused payments from one address", server, (it) => {
  it("get 402 sixty times a minute, then 429 without a request to the node", function* ({ rpc, url }) {
    const honest = yield* Purchase.prepare(url)
    const settled = yield* Purchase.prepare(url)
    const sent = yield* ask(`${url}/api/witness`, post(settled.body, { ...settled.headers, ...from("198.51.100.7") }))
    assert.strictEqual(sent.status, 201, "a payment that settles counts nowhere")

    const heard: Array<string> = []
    rpc.arm("*", "holdBefore", (params) => (heard.push(params.toLowerCase()), false))
    const isAskedAbout = (wallet: string) => heard.some((params) => params.includes(wallet))
    const first = yield* refusedBy("198.51.100.7", 60, 8)
    assert.isTrue(first.wallets.every(isAskedAbout))
    for (const one of first.answers) assertAnswer(one, 402, "payment_invalid")

    const more = yield* refusedBy("198.51.100.7", 20, 8)
    for (const one of more.answers) {
      assertAnswer(one, 429, "rate_limited")
      const wait = Number(one.headers.get("retry-after"))
      assert.isTrue(wait >= 1 && wait <= 60, String(wait))
      assert.strictEqual(one.json["retryAfter"], wait)
      assert.match(String(one.json["message"]), /60 refused payments per minute.*charged and changed nothing\.$/u)
    }
    assert.isFalse(more.wallets.some(isAskedAbout))
    yield* rpc.calm

    const replay = yield* ask(`${url}/api/witness`, post(settled.body, { ...settled.headers, ...from("198.51.100.7") }))
    assert.strictEqual(replay.status, 200, "a known key is answered as ever")
    const unpaid = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, from("198.51.100.7")))
    assert.strictEqual(unpaid.status, 402, "and so is the question for a price")
    const elsewhere = yield* ask(`${url}/api/witness`, post(honest.body, { ...honest.headers, ...from("203.0.113.9") }))
    assert.strictEqual(elsewhere.status, 201, "another address is not held up")
  })

  it("are limited when they arrive all at once, too", function* () {
    const { answers } = yield* refusedBy("198.51.100.8", 300, 300)
    const refused = answers.filter(({ status }) => status === 402).length
    assert.isAtLeast(refused, 60)
    assert.isAtMost(refused, 60 + 64)
    assert.strictEqual(answers.filter(({ status }) => status === 429).length, 300 - refused)
  })
})
