/** The limits of a wallet: it claims as far as its balance goes, and has the relayer pay gas for nothing once. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, toFunctionSelector } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { agreeing, agrees, broadcast, burning, cancel, giveCode } from "../lab/buyer/ThirdParty.ts"
import { type Answer, newPayer, TestServer } from "../lab/Fixture.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { paymentFixture } from "../lab/buyer/PaymentFixture.ts"
import type { View } from "../lab/proxy/NodeViews.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

/** Agrees while gas has no price, and otherwise turns until its gas is gone. */
const burningAtAPrice: Hex = `0x3a156009575b6005565b${agrees}`

const attempts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ state: string }>`SELECT state FROM payment_attempts ORDER BY state`,
).pipe(Effect.map((rows) => rows.map(({ state }) => state)))

const lostGas = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ gas: number }>`SELECT coalesce(sum(lost_gas), 0)::int AS gas FROM payment_payers`,
).pipe(Effect.map(([lost]) => lost?.gas ?? 0))

/** Buys, and does something on the chain between the rehearsal of that payment and its block. */
const buyAnd = Effect.fnUntraced(function* <E, R>(purchase: Purchase.Purchase, between: Effect.Effect<unknown, E, R>) {
  const { rpc, url } = yield* paymentFixture
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => params.includes(purchase.nonce.slice(2)))
  const bought = yield* Purchase.sendInto(trap, url, purchase)
  yield* between
  yield* trap.release
  return yield* Fiber.join(bought)
})

/** A wallet with code whose payment has taken our gas and reverted; no inquiry has run yet. */
const burnt = Effect.fnUntraced(function* <E, R>(during: (payer: PrivateKeyAccount) => Effect.Effect<unknown, E, R>) {
  const { url } = yield* TestServer
  const payer = yield* newPayer(64n * Purchase.price)
  yield* giveCode(payer.address, agreeing)
  const purchase = yield* Purchase.prepare(url, undefined, payer)
  const answer = yield* buyAnd(purchase, Effect.andThen(during(payer), giveCode(payer.address, burning)))
  Purchase.assertPending(url, purchase, answer)
  yield* giveCode(payer.address, agreeing)
  return purchase
})

/** The answer to the wallet's next payment, after one inquiry about this one. */
const nextAfterLook = Effect.fnUntraced(function* (purchase: Purchase.Purchase) {
  const { url } = yield* TestServer
  Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
  return Purchase.reasonIn(yield* Purchase.send(url, yield* Purchase.prepare(url, undefined, purchase.payer)))
})

apart(
  "a wallet that passes the rehearsal and burns its gas in a block",
  proxiedServer("relayer", "20 seconds"),
  (it) => {
    it("cannot detect the rehearsal by the gas price", function* ({ url }) {
      const payer = yield* newPayer(8n * Purchase.price)
      const purchases = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => Purchase.prepare(url, undefined, payer))
      yield* giveCode(payer.address, burningAtAPrice)
      const answers = yield* Effect.forEach(purchases, (one) => Purchase.send(url, one), { concurrency: "unbounded" })
      assert.strictEqual(yield* QueuedPayments.relayed, 0, "no gas is spent")
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

    it("has one payment in flight until one pays, and is refused everywhere on a revert", function* ({ url }) {
      const other = yield* anotherServer()
      const open = yield* burnt((payer) =>
        Effect.gen(function* () {
          const limited = yield* Purchase.send(url, yield* Purchase.prepare(url, undefined, payer))
          assertAnswer(limited, 409, "reconcile_required")
          assert.match(
            String(limited.json["message"]),
            /wallet with code .* The limit of this wallet is 1 now\. .* This request charged nothing\.$/u,
          )
        }),
      )
      Purchase.assertPending(url, open, yield* Purchase.reconcile(url, open))
      for (const server of [url, other]) {
        const next = yield* Purchase.prepare(url, undefined, open.payer)
        const refused = yield* Purchase.send(server, next)
        assertAnswer(refused, 402, "payment_invalid", "wallet_reverted_settlement")
        assert.match(
          String(refused.json["message"]),
          /for an hour\. This request charged nothing; until its validBefore .* Pay from another wallet/u,
        )
        assert.isUndefined(yield* Purchase.attemptOf(next), "nothing is claimed")
      }
      // However often it is looked at, it is paid for once and counted once.
      yield* Purchase.reconcile(url, open)
      yield* Purchase.reconcile(other, open)
      assert.strictEqual(yield* QueuedPayments.relayed, 1)
      assert.deepStrictEqual(yield* attempts, ["pending"])
      const lost = yield* lostGas
      assert.isAbove(lost, 50_000)
      assert.isAtMost(lost, 750_000)
    })
  },
)

apart("a payment that was in a block and failed", proxiedServer("relayer", "20 seconds"), (it) => {
  it("counts against its wallet also where its authorization expires at once", function* ({ sql }) {
    const purchase = yield* burnt(() => Effect.void)
    // As if it had been signed for a few seconds only: it lives, and is too short to be sent.
    const end = Math.floor(Date.now() / 1000) + 4
    yield* sql`UPDATE payment_attempts SET valid_before = ${end} WHERE idempotency_key = ${purchase.key}`
    assert.deepStrictEqual(yield* nextAfterLook(purchase), [402, "payment_invalid", "wallet_reverted_settlement"])
    assert.isAbove(yield* lostGas, 50_000)
  })

  it("counts against its wallet where the wallet cancels it, before the cancellation is final", function* ({ url }) {
    const purchase = yield* burnt(() => Effect.void)
    yield* cancel(purchase)
    assert.deepStrictEqual(yield* nextAfterLook(purchase), [402, "payment_invalid", "wallet_reverted_settlement"])
    const lost = yield* lostGas
    assert.isAbove(lost, 50_000)
    // It is counted once, and its attempt ends as it did before.
    yield* Purchase.passExpiry
    yield* Purchase.secondInquiry(url, purchase)
    yield* Purchase.assertFailed(url, purchase, "authorization_canceled")
    assert.strictEqual(yield* lostGas, lost)
  })

  it("counts against a wallet without code that cancelled it in flight", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url)
    Purchase.assertPending(url, purchase, yield* buyAnd(purchase, cancel(purchase)))
    assert.deepStrictEqual(yield* nextAfterLook(purchase), [402, "payment_invalid", "wallet_did_not_pay"])
  })

  it("counts against no wallet where its block came after it expired", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url)
    const late = Purchase.onChain((client) => client.increaseTime({ seconds: 200 }))
    Purchase.assertPending(url, purchase, yield* buyAnd(purchase, late))
    assert.strictEqual(yield* QueuedPayments.relayed, 1)
    const [status] = yield* nextAfterLook(purchase)
    assert.strictEqual(status, 201)
    assert.strictEqual(yield* lostGas, 0)
  })

  it("counts against no wallet where another submitter was faster and it paid", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url)
    yield* buyAnd(purchase, broadcast(purchase))
    assert.strictEqual((yield* Purchase.reconcile(url, purchase)).status, 200)
    const answer = yield* Purchase.send(url, yield* Purchase.prepare(url, undefined, purchase.payer))
    assert.strictEqual(answer.status, 201, answer.text)
    assert.strictEqual(yield* lostGas, 0)
  })
})

/** The first bytes of a question to the token, by which a call is recognised. */
const authorizationState = toFunctionSelector("authorizationState(address,bytes32)").slice(2)
const balanceOf = toFunctionSelector("balanceOf(address)").slice(2)

/** Three signed stones of one wallet with so many prices; each can be sent. */
const prepare = Effect.fnUntraced(function* (url: string, prices: bigint) {
  const payer = yield* newPayer(prices * Purchase.price)
  const one = Effect.map(Purchase.prepare(url, undefined, payer), (purchase) => ({
    ...purchase,
    send: Purchase.send(url, purchase),
  }))
  return [yield* one, yield* one, yield* one] as const
})

const assertOverdrawn = ({ json, status, text }: Answer) =>
  assert.deepStrictEqual([status, json["reason"]], [402, "insufficient_funds"], text)

apart("a wallet with exactly the price", proxiedServer("relayer", "20 seconds"), (it) => {
  it("is not overdrawn by a payment that left its balance and is not recorded yet", function* ({ rpc, url }) {
    const [first, second] = yield* prepare(url, 2n)
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
    const [first, second] = yield* prepare(url, 1n)
    const unpaid = yield* Purchase.height
    let hash: string | undefined
    const trap = rpc.arm("eth_getTransactionReceipt", "holdBefore", (params) => params === (hash ??= params))
    const slow = yield* Effect.forkScoped(first.send)
    yield* trap.arrived
    yield* Purchase.height.pipe(until("the payment is in no block", (height) => height > unpaid))
    const behind: View = { head: unpaid, clamps: true }
    // Only the node that has the payment is asked whether its authorization is used.
    rpc.behave((method, _, params) => (method === "eth_call" && !params.includes(authorizationState) ? behind : {}))
    assertOverdrawn(yield* second.send)
    assert.deepStrictEqual(yield* attempts, ["pending"])
    yield* rpc.calm
    yield* trap.release
    assert.strictEqual((yield* Fiber.join(slow)).status, 201)
  })

  it("buys nothing with the money of a payment in flight while an older one ages", function* ({ rpc, sql, url }) {
    // Two prices: the first purchase spends one, and the other one is promised twice.
    const [older, pending, late] = yield* prepare(url, 2n)
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
