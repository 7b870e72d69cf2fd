/** The limits of a wallet: it claims as far as its balance goes, and falls back to one payment in flight after a failed one. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, toFunctionSelector } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { onServer, relayed } from "../lab/server/Live.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { agreeing, agrees, broadcast, burning, cancel, giveCode } from "../lab/buyer/ThirdParty.ts"
import { paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"
import type { View } from "../lab/proxy/NodeViews.ts"
import { until } from "../lab/Eventually.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { type Answer, anotherServer, becomes, newPayer, TestServer } from "../lab/Fixture.ts"

const relayedInTwoSeconds = onServer(proxiedServer("relayer", "2 seconds"))

/** Agrees while gas has no price, and otherwise loops until its gas is used up. */
const burningAtAPrice: Hex = `0x3a156009575b6005565b${agrees}`

const rehearsal = toFunctionSelector("transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)")

const attempts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ state: string }>`SELECT state FROM payment_attempts ORDER BY state`,
).pipe(Effect.map((rows) => rows.map(({ state }) => state)))

/** Whether the wallet may have only one payment in flight. */
const isLimited = Effect.fnUntraced(function* ({ address }: Pick<PrivateKeyAccount, "address">) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT 1 FROM payment_payers WHERE name = ${address.toLowerCase()} AND limited_until > now() + interval '59 minutes'`
  return rows.length > 0
})

/** Buys, and does something on the chain between the rehearsal of that payment and its block. */
const buyAnd = Effect.fnUntraced(function* <E, R>(purchase: Purchase.Purchase, between: Effect.Effect<unknown, E, R>) {
  const { rpc } = yield* paymentFixture
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => params.includes(purchase.nonce.slice(2)))
  const bought = yield* Purchase.sendInto(trap, purchase)
  yield* between
  yield* trap.release
  return yield* Fiber.join(bought)
})

describe.concurrent("a wallet that passes the rehearsal and burns its gas in a block", () => {
  relayed("cannot detect the rehearsal by the gas price", function* () {
    const payer = yield* newPayer(8n * Purchase.price)
    const purchases = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => Purchase.prepare({ payer }))
    yield* giveCode(payer.address, burningAtAPrice)
    const answers = yield* Effect.forEach(purchases, (one) => Purchase.send(one), { concurrency: "unbounded" })
    assert.strictEqual(yield* Purchase.relayed, 0, "no gas is spent")
    const failed = answers.filter(({ status }) => status !== 409)
    assert.isNotEmpty(failed)
    for (const answer of failed) {
      assert.deepStrictEqual(
        Purchase.reasonIn(answer),
        [402, "payment_failed", "invalid_exact_evm_signature"],
        answer.text,
      )
    }
    assert.deepStrictEqual(yield* attempts, Array(failed.length).fill("failed"), "no slot is held")
  })
})

describe.concurrent("a rehearsed payment that failed in its block", () => {
  relayed("lets its wallet have one payment in flight on all servers, and others as many as before", function* () {
    const { url } = yield* TestServer
    const other = yield* anotherServer()
    const payer = yield* newPayer(64n * Purchase.price)
    yield* giveCode(payer.address, agreeing)
    const purchase = yield* Purchase.prepare({ payer })
    Purchase.assertPending(purchase, yield* buyAnd(purchase, giveCode(payer.address, burning)))
    yield* giveCode(payer.address, agreeing)
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    assert.isTrue(yield* isLimited(payer), "limited for an hour")
    for (const server of [url, other]) {
      const limited = yield* Purchase.send({ ...(yield* Purchase.prepare({ payer })), server })
      assertAnswer(limited, 409, "reconcile_required")
      assert.match(
        String(limited.json["message"]),
        /The limit of this wallet is 1 now\. .* This request charged nothing\.$/u,
      )
    }
    const neighbour = yield* newPayer()
    yield* giveCode(neighbour.address, agreeing)
    yield* Purchase.buyAt(other, { payer: neighbour })
    // No number of inquiries sends it again.
    yield* Purchase.reconcile({ ...purchase, server: other })
    assert.strictEqual(yield* Purchase.relayed, 2)
  })

  relayed("counts against a wallet that cancelled it in flight, once that is final", function* () {
    const { purchase } = yield* signedFixture
    Purchase.assertPending(purchase, yield* buyAnd(purchase, cancel(purchase)))
    yield* Purchase.mine(4)
    yield* Purchase.reconcile(purchase)
    assert.isTrue(yield* isLimited(purchase.payer), "limited for an hour")
  })

  relayed("counts against no wallet where its block came after it expired", function* () {
    const { purchase } = yield* signedFixture
    const late = Purchase.onChain((client) => client.increaseTime({ seconds: 200 }))
    Purchase.assertPending(purchase, yield* buyAnd(purchase, late))
    assert.strictEqual(yield* Purchase.relayed, 1)
    yield* Purchase.reconcile(purchase)
    assert.isFalse(yield* isLimited(purchase.payer))
  })

  relayed("counts against no wallet where another submitter was faster and it paid", function* () {
    const { purchase, rpc } = yield* signedFixture
    const forgotten = Effect.sync(() => rpc.behave(() => ({ forgets: ["logs"] })))
    Purchase.assertPending(purchase, yield* buyAnd(purchase, Effect.andThen(broadcast(purchase), forgotten)))
    yield* rpc.calm
    assert.strictEqual((yield* Purchase.reconcile(purchase)).status, 200)
    assert.isFalse(yield* isLimited(purchase.payer))
  })

  relayedInTwoSeconds("counts against no wallet that paid by another submitter, even with a node behind", function* () {
    const { purchase, rpc } = yield* signedFixture
    const before = yield* Purchase.height
    // One node answers for heads and states, another one for all else.
    const isBehind = (method: string, params: string) =>
      method === "eth_call" || (method === "eth_getBlockByNumber" && /latest|finalized/u.test(params))
    const behind = Effect.sync(() =>
      rpc.behave((method, _, params) => (isBehind(method, params) ? { head: before } : {})),
    )
    Purchase.assertPending(purchase, yield* buyAnd(purchase, Effect.andThen(broadcast(purchase), behind)))
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    assert.isFalse(yield* isLimited(purchase.payer))
  })
})

describe.concurrent("the gas of a payment that failed in its block", () => {
  relayedInTwoSeconds("is counted for an hour, warns above 0.001 ether, and stops no sale", function* () {
    const { purchase, url } = yield* signedFixture
    const sql = yield* SqlClient.SqlClient
    const address = yield* Purchase.relayer
    const balance = Purchase.onChain((client) => client.getBalance({ address }))
    const gasLost = becomes(`${url}/api/health`, 200).pipe(
      Effect.map(({ status, text }) => ({ status, ...JSON.parse(text).payments.gasLost })),
    )
    const before = yield* balance
    assert.deepStrictEqual(yield* gasLost, { status: 200, state: "ok", lastHourEther: "0.000000000" })
    yield* buyAnd(purchase, giveCode(purchase.payer.address, burning))
    const after = yield* balance.pipe(until("no gas is spent", (wei) => wei < before))
    const lost = (Number(before - after) / 1e18).toFixed(9)
    assert.isAbove(Number(lost), 0)
    const counted = yield* gasLost.pipe(until("no gas is counted", ({ lastHourEther }) => Number(lastHourEther) > 0))
    assert.deepStrictEqual(counted, { status: 200, state: "ok", lastHourEther: lost })
    yield* sql`UPDATE relayer_broadcasts SET lost_wei = 1000000000000000`
    assert.deepStrictEqual(yield* gasLost, { status: 200, state: "failing", lastHourEther: "0.001000000" })
    yield* Purchase.buy()
    assert.strictEqual((yield* gasLost).lastHourEther, "0.001000000", "a sale costs no lost gas")
    yield* sql`UPDATE relayer_broadcasts SET lost_at = lost_at - interval '61 minutes'`
    assert.strictEqual((yield* gasLost).lastHourEther, "0.000000000")
  })
})

/** The first bytes of a question to the token, by which a call is recognised. */
const authorizationState = toFunctionSelector("authorizationState(address,bytes32)").slice(2)
const balanceOf = toFunctionSelector("balanceOf(address)").slice(2)

/** Three signed stones of one wallet with so many prices; each can be sent. */
const prepare = Effect.fnUntraced(function* (prices: bigint) {
  const payer = yield* newPayer(prices * Purchase.price)
  const one = Effect.map(Purchase.prepare({ payer }), (purchase) => ({
    ...purchase,
    send: Purchase.send(purchase),
  }))
  return [yield* one, yield* one, yield* one] as const
})

const assertOverdrawn = ({ json, status, text }: Answer) =>
  assert.deepStrictEqual([status, json["reason"]], [402, "insufficient_funds"], text)

describe.concurrent("a wallet with exactly the price", () => {
  relayed("is not overdrawn by a payment that left its balance and is not recorded yet", function* () {
    const { rpc, url } = yield* paymentFixture
    const [first, second] = yield* prepare(2n)
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

  relayed("buys once while one node behind a balancer knows its payment and another does not", function* () {
    const { rpc } = yield* paymentFixture
    const [first, second] = yield* prepare(1n)
    const unpaid = yield* Purchase.height
    let hash: string | undefined
    const trap = rpc.arm("eth_getTransactionReceipt", "holdBefore", (params) => params === (hash ??= params))
    const slow = yield* Effect.forkScoped(first.send)
    yield* trap.arrived
    yield* Purchase.height.pipe(until("the payment is in no block", (height) => height > unpaid))
    const behind: View = { head: unpaid }
    // Only the node that has the payment is asked whether its authorization is used.
    rpc.behave((method, _, params) => (method === "eth_call" && !params.includes(authorizationState) ? behind : {}))
    assertAnswer(yield* second.send, 503, "facilitator_unavailable")
    assert.deepStrictEqual(yield* attempts, ["pending"])
    yield* rpc.calm
    yield* trap.release
    assert.strictEqual((yield* Fiber.join(slow)).status, 201)
  })

  relayed("settles a payment that a stranger broadcasts before the balance is read, with nothing left", function* () {
    const { rpc } = yield* paymentFixture
    const purchase = yield* Purchase.prepare({ funds: Purchase.price })
    const before: View = { head: yield* Purchase.height }
    const transaction = yield* broadcast(purchase)
    // The rehearsal is answered by a node that has not seen it yet.
    rpc.behave((method, _, params) =>
      method === "eth_call" && params.includes(rehearsal) && params.includes("latest") ? before : {},
    )
    const answer = yield* Purchase.send(purchase)
    yield* rpc.calm
    assert.strictEqual(answer.status, 201, answer.text)
    assert.strictEqual(JSON.parse(answer.text).receipt.transaction, transaction)
    yield* Purchase.assertSettled(purchase)
  })

  relayed("buys nothing with the money of a payment in flight while an older one ages", function* () {
    const { rpc, sql } = yield* paymentFixture
    // Two prices: the first purchase spends one, and the other one is promised twice.
    const [older, pending, late] = yield* prepare(2n)
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
    assertOverdrawn(yield* Fiber.join(refusing))
    assert.deepStrictEqual(yield* attempts, ["pending", "settled"])
    yield* sending.release
    assert.strictEqual((yield* Fiber.join(slow)).status, 201)
  })
})
