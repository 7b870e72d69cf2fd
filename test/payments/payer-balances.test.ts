/** A wallet's claims match its balance: no claim exceeds it, and no money is counted twice. */
import { type Duration, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { toFunctionSelector } from "viem"
import * as Purchase from "../lab/buyer/Purchase.ts"
import type { View } from "../lab/proxy/NodeViews.ts"
import { loopback } from "../lab/server/Rooms.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { type Answer, ask, newCommitment, newKey, newPayer, post, read } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { relayed } from "../lab/buyer/QueuedPayments.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert } from "../lab/Suites.ts"

const edition = "/api/elements/pixel-bit-frog/collect"
const stone = "/api/witness"

/** The first bytes of a question to the token, by which a call is recognised. */
const authorizationState = toFunctionSelector("authorizationState(address,bytes32)").slice(2)
const balanceOf = toFunctionSelector("balanceOf(address)").slice(2)

/** Paid requests for one route, all by one wallet, each with a key and an authorization of its own. */
const prepare = Effect.fnUntraced(function* (url: string, path: string, count: number, fundedWith: bigint) {
  const payer = yield* newPayer(fundedWith)
  const challenge = challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
  // As long as an authorization may live.
  const validBefore = String(Math.floor(Date.now() / 1000) + 590)
  const payments = yield* Effect.forEach(
    Array.from({ length: count }),
    () => sign(payer, challenge.accepts[0], challenge.resource, { validBefore }),
    { concurrency: 20 },
  )
  return payments.map((payment, index) => {
    const key = newKey()
    // Each from an address of its own, where the server believes its proxy.
    const address = { "x-forwarded-for": `198.51.100.${index}` }
    const headers = { "idempotency-key": key, "payment-signature": encode(payment), ...address }
    return { key, send: ask(`${url}${path}`, post(path === stone ? { commitment: newCommitment() } : {}, headers)) }
  })
})

const behindProxy = (wait: Duration.Input) =>
  proxiedServer("relayer", wait, "1 hour", 50, {}, { trustedProxies: loopback })

const codesOf = (answers: ReadonlyArray<Answer>) =>
  [...Map.groupBy(answers, ({ json, status }) => `${status} ${String(json["code"] ?? "")}`)]
    .map(([code, all]) => [code, all.length] as const)
    .sort()

const attempts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ pending: number; settled: number; failed: number; claims: number }>`
    SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending, count(*) FILTER (WHERE state = 'settled')::int AS settled,
      count(*) FILTER (WHERE state = 'failed')::int AS failed, (SELECT count(*)::int FROM payment_claims) AS claims
    FROM payment_attempts`,
).pipe(Effect.map((rows) => rows[0] ?? { pending: 0, settled: 0, failed: 0, claims: 0 }))

apart("a wallet with one cent and 140 purchases of one edition", behindProxy("2 seconds"), (it) => {
  it("has one purchase in flight at a time, and costs us one transaction", function* ({ url }) {
    const purchases = yield* prepare(url, edition, 140, Purchase.price)
    yield* Purchase.automine(false)
    const answers = yield* Effect.forEach(purchases, ({ send }) => send, { concurrency: "unbounded" })
    assert.deepStrictEqual(codesOf(answers), [
      ["202 settlement_pending", 1],
      ["402 payment_invalid", 139],
    ])
    const refused = answers.filter(({ status }) => status === 402)
    for (const answer of refused) {
      assert.strictEqual(answer.json["reason"], "insufficient_funds")
      assert.match(String(answer.json["message"]), /payments in flight here.* This request charged nothing\.$/u)
    }
    assert.deepInclude(yield* attempts, { pending: 1, failed: 0 })
    const pixels = (yield* read("/api/pixels")).pixels
    assert.strictEqual(pixels.find(({ id }: { id: string }) => id === "pixel-bit-frog").reserved, 1)
    yield* Purchase.mineAll
    const held = purchases.find((_, index) => answers[index]?.status === 202)
    assert.strictEqual((yield* ask(`${url}/api/reconcile/${held?.key}`, { method: "POST" })).status, 200)
    assert.strictEqual(yield* relayed, 1)
  })
})

apart("a wallet with exactly the price", proxiedServer("relayer", "20 seconds"), (it) => {
  it("is not overdrawn by a payment that left its balance and is not recorded yet", function* ({ rpc, url }) {
    const [first, second] = yield* prepare(url, stone, 2, 2n * Purchase.price)
    if (first === undefined || second === undefined) return assert.fail()
    let hash: string | undefined
    const trap = rpc.arm("eth_getTransactionReceipt", "holdBefore", (params) => params === (hash ??= params))
    const slow = yield* Effect.forkScoped(first.send)
    yield* trap.arrived
    assert.strictEqual((yield* second.send).status, 201)
    yield* rpc.calm
    yield* trap.release
    assert.strictEqual((yield* Fiber.join(slow)).status, 201)
    yield* Purchase.audit(url)
  })

  it("buys once while one node behind a balancer knows its payment and another does not", function* ({ rpc, url }) {
    const [first, second] = yield* prepare(url, edition, 2, Purchase.price)
    if (first === undefined || second === undefined) return assert.fail()
    let hash: string | undefined
    const trap = rpc.arm("eth_getTransactionReceipt", "holdBefore", (params) => params === (hash ??= params))
    const slow = yield* Effect.forkScoped(first.send)
    yield* trap.arrived
    const paid = yield* Purchase.height
    const behind: View = { head: paid - 1n, clamps: true }
    // Only the node that has the payment is asked whether its authorization is used.
    rpc.behave((method, _, params) => (method === "eth_call" && !params.includes(authorizationState) ? behind : {}))
    const refused = yield* second.send
    assert.deepStrictEqual([refused.status, refused.json["reason"]], [402, "insufficient_funds"], refused.text)
    assert.deepInclude(yield* attempts, { pending: 1, failed: 0 })
    yield* rpc.calm
    yield* trap.release
    assert.strictEqual((yield* Fiber.join(slow)).status, 201)
  })

  it("buys nothing with the money of a payment in flight while an older one ages", function* ({ rpc, sql, url }) {
    // Two prices: the first purchase spends one, and the other one is promised twice.
    const [older, pending, late] = yield* prepare(url, edition, 3, 2n * Purchase.price)
    if (older === undefined || pending === undefined || late === undefined) return assert.fail()
    assert.strictEqual((yield* older.send).status, 201)
    const sending = rpc.arm("eth_sendRawTransaction", "holdBefore")
    const slow = yield* Effect.forkScoped(pending.send)
    yield* sending.arrived
    const balance = rpc.arm("eth_call", "holdBefore", (params) => params.includes(balanceOf))
    const refusing = yield* Effect.forkScoped(late.send)
    yield* balance.arrived
    // A clock's difference before the first look at the balance, and more than that before the second one.
    yield* sql`UPDATE payment_attempts SET ended_at = ${new Date(Date.now() - 59_999).toISOString()}::timestamptz
        WHERE state = 'settled'`
    yield* sql`SELECT id FROM payment_attempts
        WHERE state = 'settled' AND ended_at < clock_timestamp() - interval '60050 milliseconds'`.pipe(
      until("the older payment never turns a minute old", (rows) => rows.length > 0),
    )
    yield* balance.release
    const refused = yield* Fiber.join(refusing)
    assert.deepStrictEqual([refused.status, refused.json["reason"]], [402, "insufficient_funds"], refused.text)
    assert.deepInclude(yield* attempts, { pending: 1, settled: 1, failed: 0 })
    yield* sending.release
    assert.strictEqual((yield* Fiber.join(slow)).status, 201)
  })

  it.on(proxiedServer("relayer"))("can spend its balance again after its payment failed", function* ({ rpc, url }) {
    const [first, second] = yield* prepare(url, stone, 2, Purchase.price)
    if (first === undefined || second === undefined) return assert.fail()
    rpc.arm("eth_sendRawTransaction", "dropBefore")
    assert.strictEqual((yield* first.send).status, 202)
    const refused = yield* second.send
    assert.deepStrictEqual([refused.status, refused.json["reason"]], [402, "insufficient_funds"], refused.text)
    yield* Purchase.onChain(async (client) => {
      await client.increaseTime({ seconds: 600 })
      await client.mine({ blocks: 4 })
    })
    yield* rpc.calm
    assert.strictEqual((yield* Purchase.secondInquiry(url, first)).status, 402)
    assert.deepInclude(yield* attempts, { pending: 0, failed: 1, claims: 0 })
  })
})
