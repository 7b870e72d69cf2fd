/** Refused payments cost node and card processor few questions or none, and the database few rows. */
import { assert, describe, it } from "../lab/It.ts"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { onServer, relayed } from "../lab/server/Live.ts"
import { type Answer, ask, newCommitment, newKey, newPayer, post, Proxies, TestServer } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as Cards from "../lab/buyer/Cards.ts"
import { agreeing, giveCode, slow } from "../lab/buyer/ThirdParty.ts"
import { from, loopback } from "../lab/server/Rooms.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { until } from "../lab/Eventually.ts"
import { paymentFixture } from "../lab/buyer/PaymentFixture.ts"

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
  relayed("in the name of one wallet asks the node once whether it has code, and nothing else", function* () {
    const { rpc } = yield* Proxies
    const victim = yield* newPayer()
    const sell = yield* seller
    const asked: Array<string> = []
    const wallet = victim.address.slice(2).toLowerCase()
    // The scan reads logs as well.
    const isAsked = (method: string, params: string) => method !== "eth_getLogs" || params.includes(wallet)
    const note = (method: string) => (params: string) => {
      if (isAsked(method, params)) asked.push(params.includes('"pending"') ? "rehearsal" : method)
      return false
    }
    for (const method of methods) rpc.arm(method, "holdBefore", note(method))
    const forged = Effect.gen(function* () {
      const answer = yield* sell(privateKeyToAccount(generatePrivateKey()), { from: victim.address })
      assertAnswer(answer, 402, "payment_invalid", "invalid_exact_evm_signature")
      assert.match(String(answer.json["message"]), /This request charged nothing\.$/u)
      assert.deepStrictEqual(asked, ["eth_getCode"])
    })
    yield* forged
    // At once: the node's answer holds for half a minute.
    yield* Effect.all(
      Array.from({ length: 19 }, () => forged),
      { concurrency: "unbounded" },
    )
    assert.strictEqual((yield* sell(victim)).status, 201, "the wallet itself pays as ever")
    // A valid payment is sent by the wallet's current code: each rehearsal, of which a busy machine makes two, asks for it.
    const count = (what: string) => asked.filter((one) => one === what).length
    assert.isAtLeast(count("rehearsal"), 1)
    assert.strictEqual(count("eth_getCode"), 1 + count("rehearsal"))
  })
})

/** Payments of wallets that hold nothing: each is signed well, and the node has to be asked to refuse it. */
const refusedBy = Effect.fnUntraced(function* (address: string, count: number, concurrency: number) {
  const sell = yield* seller
  const wallets = yield* Effect.forEach(Array.from({ length: count }), () => newPayer(0n))
  const answers = yield* Effect.forEach(wallets, (wallet) => sell(wallet, {}, from(address)), { concurrency })
  return { answers, wallets: wallets.map(({ address }) => address.slice(2).toLowerCase()) }
})

const assertLimited = (answer: Answer) => {
  assertAnswer(answer, 429, "rate_limited")
  const wait = Number(answer.headers.get("retry-after"))
  assert.isTrue(wait >= 1 && wait <= 60, String(wait))
  assert.strictEqual(answer.json["retryAfter"], wait)
  assert.match(String(answer.json["message"]), /60 refused payments per minute.*charged and changed nothing\.$/u)
}

/** Stops the limiter's clock: a slow machine needs more than the limit's minute for its payments. */
const stoppedLimiterClock = Layer.effectDiscard(
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(
      `CREATE OR REPLACE FUNCTION rate_limit_now() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS $$ SELECT timestamptz '${new Date().toISOString()}' $$`,
    ),
  ),
)

const server = proxiedServer("relayer", "10 seconds", "1 hour", {}, {}, { trustedProxies: loopback })
const test = onServer(Layer.provideMerge(stoppedLimiterClock, server))

describe.concurrent("refused payments from one address", () => {
  test("get 402 sixty times a minute, then 429 without a request to the node", function* () {
    const { rpc, url } = yield* paymentFixture
    const honest = yield* Purchase.prepare()
    const settled = yield* Purchase.prepare()
    const sent = yield* ask(`${url}/api/witness`, post(settled.body, { ...settled.headers, ...from("198.51.100.7") }))
    assert.strictEqual(sent.status, 201, "a payment that settles counts nowhere")

    const heard: Array<string> = []
    rpc.arm("*", "holdBefore", (params) => (heard.push(params.toLowerCase()), false))
    const isAskedAbout = (wallet: string) => heard.some((params) => params.includes(wallet))
    const first = yield* refusedBy("198.51.100.7", 60, 8)
    assert.isTrue(first.wallets.every(isAskedAbout))
    for (const one of first.answers) assertAnswer(one, 402, "payment_invalid")

    const more = yield* refusedBy("198.51.100.7", 20, 8)
    more.answers.forEach(assertLimited)
    assert.isFalse(more.wallets.some(isAskedAbout))
    yield* rpc.calm

    const replay = yield* ask(`${url}/api/witness`, post(settled.body, { ...settled.headers, ...from("198.51.100.7") }))
    assert.strictEqual(replay.status, 200, "a known key is answered as ever")
    const unpaid = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, from("198.51.100.7")))
    assert.strictEqual(unpaid.status, 402, "and so is the question for a price")
    const card = { "idempotency-key": newKey(), authorization: "Payment e30", ...from("198.51.100.7") }
    const byCard = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, card))
    assertAnswer(byCard, 402, "payment_invalid", "card_not_accepted")
    const elsewhere = yield* ask(`${url}/api/witness`, post(honest.body, { ...honest.headers, ...from("203.0.113.9") }))
    assert.strictEqual(elsewhere.status, 201, "another address is not held up")
  })

  test("count only what cost a query to the node, and never a wallet that has paid here", function* () {
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
  })

  test("never count a wallet whose contract signs and that has paid here", function* () {
    const address = "198.51.100.10"
    const sell = yield* seller
    const [owner, contract] = [yield* newPayer(), yield* newPayer()]
    yield* giveCode(contract.address, agreeing)
    const buy = sell(owner, { from: contract.address }, from(address))
    assert.strictEqual((yield* buy).status, 201)
    yield* refusedBy(address, 64, 8)
    assertAnswer(yield* sell(yield* newPayer(), {}, from(address)), 429, "rate_limited")
    assert.strictEqual((yield* buy).status, 201)
  })

  it.live("do not include payments beyond a wallet's limit in flight", () =>
    Effect.gen(function* () {
      const address = "198.51.100.11"
      const sell = yield* seller
      const [regular, stranger] = [yield* newPayer(100n * Purchase.price), yield* newPayer()]
      yield* Purchase.buy(undefined, undefined, { payer: regular })
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

  test("are limited when they arrive all at once, too", function* () {
    const { answers } = yield* refusedBy("198.51.100.8", 300, 300)
    const refused = answers.filter(({ status }) => status === 402).length
    assert.isAtLeast(refused, 60)
    assert.isAtMost(refused, 60 + 64)
    assert.strictEqual(answers.filter(({ status }) => status === 429).length, 300 - refused)
  })
})

describe.concurrent("attempts that end uncharged", () => {
  test("count as refused payments, and beyond the limit none is recorded", function* () {
    const address = "198.51.100.12"
    const sell = yield* seller
    const [owner, contract, other] = [yield* newPayer(), yield* newPayer(), yield* newPayer()]
    yield* giveCode(contract.address, slow)
    const buy = sell(owner, { from: contract.address }, from(address))
    for (let count = 0; count < 60; count += 1) assertAnswer(yield* buy, 402, "payment_failed", "gas_too_high")
    const before = yield* Purchase.written
    assertAnswer(yield* buy, 429, "rate_limited")
    assert.deepStrictEqual(yield* Purchase.written, before)
    assert.strictEqual((yield* sell(other, {}, from("203.0.113.12"))).status, 201, "another address pays")
  })
})

const byCard = onServer(
  Layer.provideMerge(stoppedLimiterClock, Cards.carded("20 seconds", { trustedProxies: loopback })),
)

/** Candles with these tokens, sent at once from one address. */
const cardsFrom = Effect.fnUntraced(function* (address: string, tokens: ReadonlyArray<string>) {
  const { url } = yield* TestServer
  const purchases = yield* Effect.forEach(tokens, (token) => Cards.prepareWithToken(url, token), { concurrency: 16 })
  const sent = purchases.map((purchase) => ({ ...purchase, headers: { ...purchase.headers, ...from(address) } }))
  const answers = yield* Effect.forEach(sent, Purchase.send, { concurrency: "unbounded" })
  return { sent, statuses: answers.map(({ status }) => status), answers }
})

const invented = (count: number) => Array.from({ length: count }, () => `spt_${newKey()}`)
const counted = (statuses: ReadonlyArray<number>, status: number) => statuses.filter((one) => one === status).length

describe.concurrent("card payments with invented tokens from one address", () => {
  byCard("write sixty attempts a minute at most, then get 429 without a call to the processor", function* () {
    const bank = yield* Cards.Processor
    const { answers, statuses } = yield* cardsFrom("198.51.100.20", invented(126))
    assert.deepStrictEqual([counted(statuses, 202), counted(statuses, 429)], [60, 66])
    assert.strictEqual(bank.requests().keys, 60)
    assert.strictEqual((yield* Purchase.written).attempts, 60)
    answers.filter(({ status }) => status === 429).forEach(assertLimited)
    const granted = yield* Effect.promise(() => bank.grant("pm_card_visa", "300"))
    assert.deepStrictEqual((yield* cardsFrom("203.0.113.20", [granted])).statuses, [201], "another address pays")
    assert.deepStrictEqual((yield* cardsFrom("198.51.100.20", [granted])).statuses, [429])
  })

  byCard("count once, whenever the processor declines them, and not at all if it charges", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const bank = yield* Cards.Processor
    const grants = (method: string, count: number) =>
      Effect.forEach(Array.from({ length: count }), () => Effect.promise(() => bank.grant(method, "300")))
    const used = Effect.map(
      sql<{ n: number }>`SELECT cardinality(hits) AS n FROM rate_limits WHERE key LIKE 'refused-payments:%'`,
      (rows) => rows[0]?.n,
    )
    const address = "198.51.100.21"
    const charged = yield* cardsFrom(address, yield* grants("pm_card_visa", 70))
    assert.strictEqual(counted(charged.statuses, 201), 70)
    assert.strictEqual(yield* used, 0, "what is charged counts nowhere")
    const held = yield* cardsFrom(address, yield* grants("pm_bank_slow", 20))
    assert.strictEqual(counted(held.statuses, 202), 20)
    yield* bank.finish
    for (const purchase of held.sent) assert.strictEqual((yield* Purchase.reconcile(purchase)).status, 200)
    assert.strictEqual(yield* used, 0, "nor what is charged later")

    const token = yield* Effect.promise(() => bank.grant("pm_card_visa", "300"))
    const trap = bank.arm("holdAfter")
    const gone = yield* Effect.forkScoped(cardsFrom(address, [token]))
    yield* trap.arrived
    yield* Fiber.interrupt(gone)
    // An answer to a later request: the server has seen by then that this client is gone.
    yield* ask(`${url}/livez`)
    yield* trap.release
    yield* used.pipe(until("it counts where its client is gone", (count) => count === 0))

    const late = yield* cardsFrom(address, invented(30))
    assert.strictEqual(counted(late.statuses, 202), 30)
    yield* sql`UPDATE payment_attempts SET doubted_at = doubted_at - interval '1 day' WHERE state = 'pending'`
    for (const purchase of late.sent) assertAnswer(yield* Purchase.reconcile(purchase), 402, "payment_failed")
    assert.strictEqual(yield* used, 30)
    const declined = yield* cardsFrom(address, yield* grants("pm_card_visa_chargeDeclined", 40))
    assert.deepStrictEqual([counted(declined.statuses, 402), counted(declined.statuses, 429)], [30, 10])
    const unpaid = yield* ask(`${url}/api/candles/week/moss-hare`, post(Cards.dedication, from(address)))
    assert.strictEqual(unpaid.status, 402, "the question for a price is answered as ever")
  })
})
