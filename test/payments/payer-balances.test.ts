/** A wallet's claims match its balance: no claim exceeds it, and no money is counted twice. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { toFunctionSelector } from "viem"
import * as Purchase from "../lab/buyer/Purchase.ts"
import type { View } from "../lab/proxy/NodeViews.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { type Answer, newPayer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert } from "../lab/Suites.ts"

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

const attempts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ state: string }>`SELECT state FROM payment_attempts ORDER BY state`,
).pipe(Effect.map((rows) => rows.map(({ state }) => state)))

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
