/** The relayer's line: payments wait when a node takes no more of one sender, or when too much gas is at risk. None is refused. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { keccak256, parseTransaction } from "viem"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { onServer, relayed, relayedBriefly } from "../lab/server/Live.ts"
import { emptied, signedFixture, paymentFixture } from "../lab/buyer/PaymentFixture.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { agreeing, giveCode } from "../lab/buyer/ThirdParty.ts"
import { eventually, until } from "../lab/Eventually.ts"
import { newPayer } from "../lab/Fixture.ts"
import type { NodeProxy } from "../lab/proxy/Node.ts"
import { neighbours, proxiedServer } from "../lab/server/ProxiedServer.ts"
import { assertEach, valuesOf } from "../lab/Assertions.ts"
import { TestServer } from "../lab/TestServices.ts"

const relayedInThreeSeconds = onServer(proxiedServer("relayer", "3 seconds"))

/** A node that takes so many nonces while none is mined, and each again with a higher fee; how often it refused one. */
const takesAtMost = (rpc: NodeProxy, most: number) => {
  const sent = new Set<number>()
  let refused = 0
  rpc.arm("eth_sendRawTransaction", "refusal", (params) => {
    const { nonce = 0 } = parseTransaction(JSON.parse(params)[0])
    const isTaken = sent.has(nonce) || sent.size < most
    if (isTaken) sent.add(nonce)
    else refused += 1
    return !isTaken
  })
  return { refused: () => refused, sent: () => sent.size }
}

const sendAll = (purchases: ReadonlyArray<Purchase.Purchase>) =>
  Effect.forEach(purchases, (one) => Purchase.send(one), { concurrency: "unbounded" })

/** The gas at risk of so many payments from this nonce on, which a busy machine may send after their requests were answered. */
const gasAtRisk = Effect.fnUntraced(function* (count: number, first: number) {
  const sql = yield* SqlClient.SqlClient
  const risks = yield* sql<{ readonly gas: number }>`
    SELECT gas_at_risk::int AS gas FROM relayer_broadcasts WHERE nonce >= ${first} ORDER BY nonce`.pipe(
    until(`fewer than ${count} are in flight`, (rows) => rows.length >= count),
  )
  return valuesOf(risks, "gas")
})

const settledInTheEnd = Effect.fnUntraced(function* (purchases: ReadonlyArray<Purchase.Purchase>) {
  for (const one of purchases) yield* eventually("settled", Purchase.reconcile(one), ({ status }) => status === 200)
  for (const one of purchases) yield* Purchase.assertSettled(one)
  assert.strictEqual(yield* Purchase.relayed, purchases.length)
})

describe.concurrent("more payments than a node takes of one sender", () => {
  relayedInThreeSeconds("wait in line without a 17th transaction, answer 202 in time, and are all made", function* () {
    const { rpc, sql, url } = yield* paymentFixture
    const purchases = yield* Purchase.prepareMany(url, 20)
    yield* Purchase.automine(false)
    const node = takesAtMost(rpc, 16)
    const answers = yield* sendAll(purchases)
    for (const [index, answer] of answers.entries()) Purchase.assertPending(purchases[index] ?? assert.fail(), answer)
    yield* Effect.sync(node.sent).pipe(until("fewer than 16 are sent", (count) => count >= 16))
    assert.deepStrictEqual([node.sent(), node.refused()], [16, 0])
    assert.deepStrictEqual(
      valuesOf(yield* sql`SELECT nonce::int AS nonce FROM relayer_broadcasts ORDER BY nonce`, "nonce"),
      Array.from({ length: 16 }, (_, nonce) => nonce),
    )
    yield* rpc.calm
    yield* Purchase.mineAll
    yield* settledInTheEnd(purchases)
  })

  relayedInThreeSeconds("are made also where it takes less than expected: a refused one keeps its nonce", function* () {
    const { rpc, sql, url } = yield* paymentFixture
    const purchases = yield* Purchase.prepareMany(url, 6)
    yield* Purchase.automine(false)
    const node = takesAtMost(rpc, 4)
    yield* sendAll(purchases)
    yield* Effect.sync(node.refused).pipe(until("none is refused", (count) => count >= 2))
    const recorded = sql`SELECT attempt_id, nonce::int AS nonce FROM relayer_broadcasts ORDER BY attempt_id`
    const before = yield* recorded.pipe(until("fewer than 6 are recorded", (rows) => rows.length >= 6))
    assert.lengthOf(before, 6)
    yield* rpc.calm
    yield* Purchase.mineAll
    yield* settledInTheEnd(purchases)
    assert.deepStrictEqual(yield* recorded, before)
  })
})

const cautiously = onServer(proxiedServer("relayer", "1 second", "1 hour", { gasAtRisk: 300_000 }))

describe.concurrent("more gas at risk than the limit", () => {
  cautiously("lets unknown wallets wait in line, and holds up none that has paid here", function* () {
    const { url } = yield* TestServer
    const regular = yield* newPayer()
    yield* Purchase.buyAt(url, { payer: regular })
    const unknown = yield* Purchase.prepareMany(url, 4)
    yield* Purchase.automine(false)
    const answers = yield* sendAll(unknown)
    for (const [index, answer] of answers.entries()) Purchase.assertPending(unknown[index] ?? assert.fail(), answer)
    assert.deepStrictEqual(yield* gasAtRisk(2, 1), [150_000, 150_000])
    const trusted = yield* Purchase.prepare({ payer: regular })
    Purchase.assertPending(trusted, yield* Purchase.send(trusted))
    assert.deepStrictEqual(yield* gasAtRisk(3, 1), [150_000, 150_000, 0])
    yield* Purchase.mineAll
    for (const one of [trusted, ...unknown])
      yield* eventually("settled", Purchase.reconcile(one), ({ status }) => status === 200)
    assert.strictEqual(yield* Purchase.relayed, 6)
  })

  cautiously("is counted over all servers that share a key", function* () {
    const { url } = yield* TestServer
    const servers = [url, ...(yield* neighbours(1, "relayer", { gasAtRisk: 300_000 }))]
    const unknown = yield* Purchase.prepareMany(url, 8)
    yield* Purchase.automine(false)
    // Each payment reaches both servers at once, as an impatient client sends it.
    const sent = servers.flatMap((server) => unknown.map((one) => Purchase.send({ ...one, server })))
    for (const { status, text } of yield* Effect.all(sent, { concurrency: "unbounded" }))
      assert.include([200, 201, 202], status, text)
    assert.deepStrictEqual(yield* gasAtRisk(2, 0), [150_000, 150_000])
    yield* Purchase.mineAll
    yield* settledInTheEnd(unknown)
  })

  relayedBriefly("counts a wallet with code although it has paid here", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    yield* Purchase.buyAt(url, { payer })
    yield* Purchase.buyAt(url, { payer })
    yield* giveCode(payer.address, agreeing)
    yield* Purchase.buyAt(url, { payer })
    assert.deepStrictEqual(
      yield* gasAtRisk(3, 0),
      [150_000, 0, 3_000_000 / 8],
      "half of the 16 places, however little gas it takes",
    )
  })
})

describe.concurrent("wallets with code", () => {
  cautiously("wait in a line of their own, in which no plain wallet is, whether it has paid here or not", function* () {
    const { url } = yield* TestServer
    const regular = yield* newPayer()
    yield* Purchase.buyAt(url, { payer: regular })
    const smart = yield* Purchase.prepareMany(url, 6)
    for (const { payer } of smart) yield* giveCode(payer.address, agreeing)
    const plain = yield* Purchase.prepareMany(url, 2)
    const trusted = yield* Purchase.prepare({ payer: regular })
    yield* Purchase.automine(false)
    for (const group of [smart, plain, [trusted]])
      for (const [index, answer] of (yield* sendAll(group)).entries())
        Purchase.assertPending(group[index] ?? assert.fail(), answer)
    assert.deepStrictEqual(
      (yield* gasAtRisk(4, 1)).toSorted((a, b) => a - b),
      [0, 150_000, 150_000, 150_001],
    )
    yield* Purchase.mineAll
    for (const one of [trusted, ...plain, ...smart])
      yield* eventually("settled", Purchase.reconcile(one), ({ status }) => status === 200)
    assert.strictEqual(yield* Purchase.relayed, 10)
  })
})

describe.concurrent("a transaction", () => {
  relayed("that its node forgets is sent again, byte by byte, while its request waits", function* () {
    const { purchase, rpc } = yield* signedFixture
    rpc.arm("eth_sendRawTransaction", "swallow")
    const bought = yield* Effect.forkScoped(Purchase.send(purchase))
    yield* Effect.sync(() => rpc.raw.size).pipe(until("it was never sent", (size) => size > 0))
    yield* rpc.calm
    assert.strictEqual((yield* Fiber.join(bought)).status, 201)
    const { transaction } = yield* Purchase.assertSettled(purchase)
    assertEach([...rpc.raw], ([hash, raw]) => [hash, keccak256(raw)], [[transaction, transaction]])
  })

  relayedBriefly("that is final and unpaid fails its attempt early, although the wallet has money again", function* () {
    const sql = yield* SqlClient.SqlClient
    const purchase = yield* emptied
    yield* Effect.flatMap(LocalChain, ({ fund }) => fund(purchase.payer.address, Purchase.price))
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    const doubts = sql`SELECT 1 FROM payment_attempts WHERE doubted_at IS NOT NULL`
    assert.isEmpty(yield* doubts, "its block is not final yet")
    yield* Purchase.mine(3)
    yield* Purchase.secondInquiry(purchase)
    assert.strictEqual(yield* Purchase.relayed, 1)
    yield* Purchase.assertFailed(purchase, "wallet_could_not_pay")
  })
})
