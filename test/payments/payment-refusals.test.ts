/** Every payment that does not fit is refused with its reason, charges nothing, and costs the node few questions or none. */
import { assert, describe, it, layer } from "@effect/vitest"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Effect } from "effect"
import {
  type Answer,
  ask,
  newCommitment,
  newKey,
  newPayer,
  post,
  Proxies,
  realClock,
  TestServer,
  world,
} from "../lab/Fixture.ts"
import { type Authorization, challengeOf, encode, type Offer, type Payment, sign } from "../lab/buyer/Payment.ts"
import { written } from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { agreeing, giveCode } from "../lab/buyer/ThirdParty.ts"
import { from, loopback } from "../lab/server/Rooms.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { paymentFixture } from "../lab/buyer/PaymentFixture.ts"

const other = "0x00000000000000000000000000000000000000aa"

interface Change {
  /** Changes the signed authorization before it is signed. */
  readonly authorization?: () => Partial<Authorization>
  /** Changes the offer that is signed and echoed. */
  readonly offer?: Partial<Offer>
  /** Changes the payload after it was signed. */
  readonly payload?: (payment: Payment) => object
  readonly header?: (header: string) => string
  readonly funds?: bigint
}

const seconds = () => Math.floor(Date.now() / 1000)

const at = (change: (url: string) => string): Change => ({
  payload: (p) => ({ ...p, resource: { url: change(p.resource.url) } }),
})
const signature = (text: string | null): Change => ({
  payload: (p) => ({ ...p, payload: { ...p.payload, signature: text } }),
})
const named = (change: Partial<Authorization>): Change => ({ authorization: () => change })
const lives = (from: number, to: number): Change => ({
  authorization: () => ({ validAfter: String(from && seconds() + from), validBefore: String(seconds() + to) }),
})
const header = (text: string): Change => ({ header: () => text })

const exact = (reason: string) => `invalid_exact_evm_${reason}`
const [requirements, payload] = ["invalid_payment_requirements", "invalid_payload"]
const [lifetime, unsigned] = [exact("payload_authorization_valid_before"), exact("signature")]

/** The reason of a 402 `payment_invalid`; absent where the header is no header. */
const cases: ReadonlyArray<readonly [name: string, reason: string | undefined, change: Change]> = [
  ["another URL", "resource_url_mismatch", at((url) => url.replace("witness", "acquire/moss-hare"))],
  ["another query", "resource_url_mismatch", at((url) => `${url}?spirit=moss-hare`)],
  ["another host", "resource_url_mismatch", at((url) => url.replace("127.0.0.1", "altar.example"))],
  ["no resource", payload, { payload: ({ resource: _, ...p }) => p }],
  ["another amount offered", requirements, { offer: { amount: "9999" } }],
  ["another amount signed", exact("payload_authorization_value_mismatch"), named({ value: "10001" })],
  ["another recipient offered", requirements, { offer: { payTo: other } }],
  ["another recipient signed", exact("recipient_mismatch"), named({ to: other })],
  ["another network", "invalid_network", { offer: { network: "eip155:8453" } }],
  [
    "another chain id in the signature alone",
    unsigned,
    {
      offer: { network: "eip155:1" },
      payload: (p) => ({ ...p, accepted: { ...p.accepted, network: "eip155:84532" } }),
    },
  ],
  ["another asset", requirements, { offer: { asset: other } }],
  ["another scheme", "unsupported_scheme", { offer: { scheme: "upto" } }],
  ["version 1", "invalid_x402_version", { payload: (p) => ({ ...p, x402Version: 1 }) }],
  ["version 3", "invalid_x402_version", { payload: (p) => ({ ...p, x402Version: 3 }) }],
  ["another wallet's authorization", unsigned, named({ from: privateKeyToAccount(generatePrivateKey()).address })],
  [
    "a field changed after signing",
    unsigned,
    {
      payload: ({ payload: { authorization, ...rest }, ...p }) => ({
        ...p,
        payload: { ...rest, authorization: { ...authorization, validAfter: "1" } },
      }),
    },
  ],
  ["an empty signature", payload, signature("0x")],
  ["a signature that is null", payload, signature(null)],
  [
    "a signature wrapped for a wallet that does not exist (EIP-6492)",
    unsigned,
    signature(`0x${"ab".repeat(40)}${"6492".repeat(16)}`),
  ],
  ["an expired authorization", lifetime, lives(0, -1)],
  ["an authorization above the maximum lifetime with clock tolerance", lifetime, lives(0, 300 + 300 + 60)],
  ["an authorization without an end", lifetime, named({ validBefore: (2n ** 256n - 1n).toString() })],
  ["an authorization that begins later", exact("payload_authorization_valid_after"), lives(100, 200)],
  ["a payer without funds", exact("insufficient_balance"), { funds: 9_999n }],
  ["text that is not base64", payload, header("%%%")],
  ["base64 that is not JSON", payload, header("aGVsbG8=")],
  ["an empty header", payload, header("")],
  ["a header of 17 KiB", undefined, header("A".repeat(17 * 1024))],
]

layer(world(), realClock)("a payment with one fault", (it) => {
  for (const [name, reason, change] of cases) {
    it.effect(`is refused: ${name}`, () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const payer = yield* newPayer(change.funds)
        const before = yield* written
        const body = { commitment: newCommitment() }
        const key = newKey()
        const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key })))
        const offer = { ...challenge.accepts[0], ...change.offer }
        const payment = yield* sign(payer, offer, challenge.resource, change.authorization?.())
        const plain = encode(change.payload?.(payment) ?? payment)
        const answer: Answer = yield* ask(
          `${url}/api/witness`,
          post(body, { "idempotency-key": key, "payment-signature": change.header?.(plain) ?? plain }),
        )
        const expected = reason === undefined ? [400, "bad_request"] : [402, "payment_invalid"]
        assert.deepStrictEqual([answer.status, answer.json["code"]], expected, answer.text)
        if (reason !== undefined) {
          assert.strictEqual(answer.json["reason"], reason)
          assert.strictEqual(challengeOf(answer).accepts[0].amount, "10000")
          assert.include(`${reason}: ${String(answer.json["message"])}`, Object(challengeOf(answer)).error)
          assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        }
        // A payment that its wallet did not sign cannot have paid; of the others the server does not know.
        const end = reason === unsigned ? /\bNothing was charged\.$/u : /\bThis request charged nothing\.$/u
        assert.match(String(answer.json["message"]), end)
        assert.deepStrictEqual(yield* written, before)
      }),
    )
  }
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

describe.concurrent("a forged payment", () => {
  it.live("in the name of one wallet asks the node once whether it has code, and nothing else", () =>
    Effect.gen(function* () {
      const { rpc } = yield* Proxies
      const victim = yield* newPayer()
      const sell = yield* seller
      const asked: Array<string> = []
      const wallet = victim.address.slice(2).toLowerCase()
      // The scan reads logs as well.
      const isAsked = (method: string, params: string) => method !== "eth_getLogs" || params.includes(wallet)
      const note = (method: string) => (params: string) => {
        if (isAsked(method, params)) asked.push(method)
        return false
      }
      for (const method of methods) rpc.arm(method, "holdBefore", note(method))
      for (let round = 0; round < 20; round++) {
        const answer = yield* sell(privateKeyToAccount(generatePrivateKey()), { from: victim.address })
        assertAnswer(answer, 402, "payment_invalid", "invalid_exact_evm_signature")
        assert.match(String(answer.json["message"]), /Nothing was charged\.$/u)
        assert.deepStrictEqual(asked, ["eth_getCode"])
      }
      assert.strictEqual((yield* sell(victim)).status, 201, "the wallet itself pays as ever")
      // A good one is sent by the code of that moment, which is asked for anew.
      assert.strictEqual(asked.filter((method) => method === "eth_getCode").length, 2)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )
})

/** Payments of wallets that hold nothing: each is signed well, and the node has to be asked to refuse it. */
const refusedBy = Effect.fnUntraced(function* (address: string, count: number, concurrency: number) {
  const sell = yield* seller
  const wallets = yield* Effect.forEach(Array.from({ length: count }), () => newPayer(0n))
  const answers = yield* Effect.forEach(wallets, (wallet) => sell(wallet, {}, from(address)), { concurrency })
  return { answers, wallets: wallets.map(({ address }) => address.slice(2).toLowerCase()) }
})

const server = proxiedServer("relayer", "10 seconds", "1 hour", {}, {}, { trustedProxies: loopback })

describe.concurrent("refused payments from one address", () => {
  it.live("get 402 sixty times a minute, then 429 without a request to the node", () =>
    Effect.gen(function* () {
      const { rpc, url } = yield* paymentFixture
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

      const replay = yield* ask(
        `${url}/api/witness`,
        post(settled.body, { ...settled.headers, ...from("198.51.100.7") }),
      )
      assert.strictEqual(replay.status, 200, "a known key is answered as ever")
      const unpaid = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, from("198.51.100.7")))
      assert.strictEqual(unpaid.status, 402, "and so is the question for a price")
      const elsewhere = yield* ask(
        `${url}/api/witness`,
        post(honest.body, { ...honest.headers, ...from("203.0.113.9") }),
      )
      assert.strictEqual(elsewhere.status, 201, "another address is not held up")
    }).pipe(Effect.provide(server)),
  )

  it.live("count only what cost a query to the node, and never a wallet that has paid here", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const address = "198.51.100.9"
      const sell = yield* seller
      const known = yield* newPayer()
      assert.strictEqual((yield* sell(known, {}, from(address))).status, 201)
      for (let count = 0; count < 70; count += 1) {
        const headers = { "idempotency-key": newKey(), "payment-signature": "e30=", ...from(address) }
        const malformed = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, headers))
        assertAnswer(malformed, 402, "payment_invalid")
      }
      assert.strictEqual(
        (yield* sell(yield* newPayer(), {}, from(address))).status,
        201,
        "malformed headers count nowhere",
      )
      yield* refusedBy(address, 64, 8)
      assertAnswer(yield* sell(yield* newPayer(), {}, from(address)), 429, "rate_limited")
      assert.strictEqual((yield* sell(known, {}, from(address))).status, 201, "its owner has paid here")
    }).pipe(Effect.provide(server)),
  )

  it.live("never count a wallet whose contract signs and that has paid here", () =>
    Effect.gen(function* () {
      const address = "198.51.100.10"
      const sell = yield* seller
      const [owner, contract] = [yield* newPayer(), yield* newPayer()]
      yield* giveCode(contract.address, agreeing)
      const buy = sell(owner, { from: contract.address }, from(address))
      assert.strictEqual((yield* buy).status, 201)
      yield* refusedBy(address, 64, 8)
      assertAnswer(yield* sell(yield* newPayer(), {}, from(address)), 429, "rate_limited")
      assert.strictEqual((yield* buy).status, 201)
    }).pipe(Effect.provide(server)),
  )

  it.live("do not include payments beyond a wallet's limit in flight", () =>
    Effect.gen(function* () {
      const address = "198.51.100.11"
      const sell = yield* seller
      const [regular, stranger] = [yield* newPayer(100n * Purchase.price), yield* newPayer()]
      assert.strictEqual((yield* sell(regular, {}, from(address))).status, 201)
      yield* Purchase.automine(false)
      const answers = yield* Effect.forEach(Array.from({ length: 60 }), () => sell(regular, {}, from(address)), {
        concurrency: "unbounded",
      })
      const beyond = answers.filter(({ status }) => status !== 202)
      assert.strictEqual(beyond.length, 50)
      for (const one of beyond) {
        assertAnswer(one, 409, "reconcile_required")
        assert.include(String(one.json["message"]), "The limit of this wallet is 10 now.")
      }
      const other = yield* sell(stranger, {}, from(address))
      assert.strictEqual(other.status, 202, other.text)
    }).pipe(Effect.provide(proxiedServer("relayer", "1 second", "1 hour", {}, {}, { trustedProxies: loopback }))),
  )

  it.live("are limited when they arrive all at once, too", () =>
    Effect.gen(function* () {
      const { answers } = yield* refusedBy("198.51.100.8", 300, 300)
      const refused = answers.filter(({ status }) => status === 402).length
      assert.isAtLeast(refused, 60)
      assert.isAtMost(refused, 60 + 64)
      assert.strictEqual(answers.filter(({ status }) => status === 429).length, 300 - refused)
    }).pipe(Effect.provide(server)),
  )
})
