/** The relayer's own purse and its own transactions: without gas nothing is sold, and nothing that never left stays behind. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type Hex, keccak256, parseGwei, parseTransaction } from "viem"
import { onServer, relayed, relayedBriefly } from "../lab/server/Live.ts"
import { eventually, until } from "../lab/Eventually.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import type { NodeProxy } from "../lab/proxy/Node.ts"
import { agrees, broadcast, cancel, giveCode, leave, slow } from "../lab/buyer/ThirdParty.ts"
import { neighbours, proxiedServer } from "../lab/server/ProxiedServer.ts"
import { paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { assertAnswer, assertEach, valuesOf } from "../lab/Assertions.ts"
import { TestServer } from "../lab/TestServices.ts"

const relayedInTenSeconds = onServer(proxiedServer("relayer", "10 seconds"))

/** Every transaction that is sent to the node from now on, as its bytes. */
const overhear = (rpc: NodeProxy) => {
  const sent: Array<Hex> = []
  rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => {
    sent.push(...(JSON.parse(params) as ReadonlyArray<Hex>))
    return false
  })
  return sent
}

/** Whether a call rehearses a transfer on the pending state. */
const isRehearsal = (params: string) => params.includes("pending")

const nonceOf = (raw: Hex = "0x") => parseTransaction(raw).nonce ?? 0

const untilSettled = (purchase: Purchase.Purchase) =>
  eventually("settled", Purchase.reconcile(purchase), ({ status }) => status === 200)

describe.concurrent("a payment that its own request did not broadcast", () => {
  relayedBriefly("is broadcast once, however many reconciliations run at once", function* () {
    const { database, purchase, rpc, url } = yield* signedFixture
    database.arm(/INSERT INTO payment_attempts/u, "cutAfter")
    assert.strictEqual((yield* Purchase.send(purchase)).status, 503)
    yield* database.calm
    const sent = overhear(rpc)
    const servers = [url, ...(yield* neighbours(3, "relayer"))]
    const looks = Effect.forEach([...servers, ...servers], (server) => Purchase.reconcile({ ...purchase, server }), {
      concurrency: "unbounded",
    })
    yield* eventually("settled", looks, (answers) => answers.every(({ status }) => status === 200))
    yield* Purchase.assertSettled(purchase)
    assert.strictEqual(sent.filter((raw) => raw.includes(purchase.nonce.slice(2))).length, 1)
  })

  relayedInTenSeconds("costs us nothing where its wallet is empty in the pending state", function* () {
    const { rpc } = yield* paymentFixture
    const purchase = yield* Purchase.prepare({ funds: Purchase.price })
    const { payer } = purchase
    const trap = rpc.arm("eth_call", "holdBefore", isRehearsal)
    const request = yield* Purchase.sendInto(trap, purchase)
    yield* rpc.calm
    const sent = overhear(rpc)
    yield* Purchase.automine(false)
    yield* leave(payer)
    yield* trap.release
    // The withdrawal is in no block yet, but an unsent payment needs no second inquiry.
    const answer = yield* Fiber.join(request)
    assertAnswer(answer, 402, "payment_failed", "invalid_exact_evm_insufficient_balance")
    // Its signature is good until its end: once funded, any holder of the signature may submit it.
    assert.match(String(answer.json["message"]), /It was not charged so far\. Should this authorization still be used/u)
    assert.notMatch(String(answer.json["message"]), /nothing was charged|never/iu)
    assert.strictEqual(sent.length, 0)
    assert.strictEqual(yield* Purchase.relayed, 0)
    yield* Purchase.automine(true)
  })

  relayedInTenSeconds("is never broadcast once its authorization has expired", function* () {
    const { purchase, rpc } = yield* signedFixture
    const trap = rpc.arm("eth_call", "holdBefore", isRehearsal)
    const request = yield* Purchase.sendInto(trap, purchase)
    yield* Purchase.passExpiry
    yield* rpc.calm
    yield* trap.release
    assert.strictEqual((yield* Fiber.join(request)).status, 402)
    assert.strictEqual(yield* Purchase.relayed, 0)
    yield* Purchase.assertFailed(purchase, "authorization_expired")
  })
})

describe.concurrent("a transaction of the relayer", () => {
  relayed("is stored with its hash before the node receives it", function* () {
    const { purchase, rpc, sql } = yield* signedFixture
    const sent = overhear(rpc)
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
    const request = yield* Purchase.sendInto(trap, purchase)
    const stored = yield* sql`SELECT hash, raw FROM relayer_broadcasts`
    assert.deepStrictEqual(
      stored,
      sent.map((raw) => ({ hash: keccak256(raw), raw })),
    )
    yield* trap.release
    assert.strictEqual((yield* Fiber.join(request)).status, 201)
  })
})

describe.concurrent("a node without a pending state", () => {
  relayed("is asked about its newest block instead", function* () {
    const { purchase, rpc } = yield* signedFixture
    rpc.arm("eth_call", "refusal", isRehearsal)
    assert.strictEqual((yield* Purchase.send(purchase)).status, 201)
    yield* Purchase.assertSettled(purchase)
  })
})

describe.concurrent("a transaction that no block includes", () => {
  relayedBriefly("is replaced with a higher fee at the same nonce", function* () {
    const { purchase, rpc, url } = yield* signedFixture
    const sent = overhear(rpc)
    yield* Purchase.automine(false)
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* Purchase.broadcasts(1)
    // From now on a block costs more than was offered.
    yield* Purchase.onChain(async (client) => {
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("500") })
      await client.mine({ blocks: 1 })
      await client.setAutomine(true)
    })
    yield* untilSettled(purchase)
    const offers = [...new Set(sent)].map((raw) => parseTransaction(raw))
    assert.isAtLeast(offers.length, 2)
    assertEach(
      offers,
      ({ nonce }) => nonce,
      offers.map(() => 0),
    )
    for (const [index, { maxFeePerGas }] of offers.slice(1).entries())
      assert.isAbove(Number(maxFeePerGas), Number(offers[index]?.maxFeePerGas) * 1.1)
    assert.strictEqual(yield* Purchase.relayed, 1)
    yield* Purchase.assertSettled(purchase)
    yield* Purchase.assertNextStone(url)
  })
})

/**
 * Two purchases whose transactions have left us, one behind the other; the first one is lost, and the second one waits in
 * the node for its place. The node refuses what else the relayer sends until `refusal` ends.
 */
const gap = Effect.gen(function* () {
  const { rpc } = yield* paymentFixture
  const [lost, waiting] = [yield* Purchase.prepare(), yield* Purchase.prepare()]
  const sent = overhear(rpc)
  yield* Purchase.automine(false)
  for (const [index, purchase] of [lost, waiting].entries()) {
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* Purchase.broadcasts(index + 1)
  }
  const refusal = rpc.arm("eth_sendRawTransaction", "refusal")
  // On a slow machine, another one with a higher fee has replaced the first one at its nonce.
  assert.deepStrictEqual([...new Set(sent.map(nonceOf))], [0, 1])
  const second = sent.findLast((raw) => nonceOf(raw) === 1) ?? "0x"
  yield* Purchase.onChain(async (client) => {
    await client.transport.request({ method: "anvil_dropAllTransactions" })
    await client.setAutomine(true)
    await client.sendRawTransaction({ serializedTransaction: second })
    await client.mine({ blocks: 2 })
  })
  assert.strictEqual(yield* Purchase.relayed, 0, "nothing is mined behind a place that nobody has")
  sent.length = 0
  return { lost, refusal, sent, waiting }
})

describe.concurrent("a relayer nonce that a lost transaction leaves free", () => {
  relayedBriefly("is used by the same payment again, and those behind it are paid", function* () {
    const { lost, refusal, sent, waiting } = yield* gap
    refusal.end()
    const looks = Effect.forEach([lost, waiting], (one) => Purchase.reconcile(one))
    yield* eventually("settled", looks, (answers) => answers.every(({ status }) => status === 200))
    assert.include(sent.map(nonceOf), 0)
    yield* Purchase.assertSettled(lost)
    yield* Purchase.assertSettled(waiting)
  })

  relayedBriefly("is used by the next waiting payment when the first is no longer sent", function* () {
    const { url } = yield* TestServer
    const { lost, refusal, waiting } = yield* gap
    yield* cancel(lost)
    refusal.end()
    yield* untilSettled(waiting)
    assert.strictEqual(yield* Purchase.relayed, 2)
    yield* Purchase.assertSettled(waiting)
    yield* Purchase.assertNextStone(url)
  })
})

describe.concurrent("a relayer nonce that no node has while a stranger made its payment", () => {
  relayed("is filled at once, and the sale behind it waits no longer than that", function* () {
    const { purchase: lost, rpc, sql } = yield* signedFixture
    rpc.arm("eth_sendRawTransaction", "swallow", (params) => params.includes(lost.nonce.slice(2)))
    const first = yield* Effect.forkScoped(Purchase.send(lost))
    yield* Effect.sync(() => rpc.raw.size).pipe(until("it was never sent", (size) => size > 0))
    const transaction = yield* broadcast(lost)
    // A transaction counts as stuck after a minute; this request waits for twenty seconds.
    const behind = yield* Purchase.prepare()
    assert.strictEqual((yield* Purchase.send(behind)).status, 201)
    assert.strictEqual((yield* Fiber.join(first)).status, 201)
    assert.strictEqual((yield* Purchase.assertSettled(lost)).transaction, transaction)
    yield* Purchase.assertSettled(behind)
    const nonces = yield* sql`SELECT nonce::int AS nonce FROM relayer_broadcasts ORDER BY nonce`
    assert.deepStrictEqual(valuesOf(nonces, "nonce"), [0, 1])
    yield* eventually(
      "counted as lost gas",
      sql`SELECT nonce::int AS nonce FROM relayer_broadcasts WHERE lost_wei > 0`,
      (rows) => valuesOf(rows, "nonce").join() === "0",
    )
  })

  relayed("is not filled by a node that is behind, while its own transaction has paid", function* () {
    const { purchase, rpc, sql } = yield* signedFixture
    const before = yield* Purchase.height
    let looks = 0
    rpc.behave((method, _, params) => {
      const isCount = method === "eth_getTransactionCount"
      if (isCount && params.includes("blockHash")) looks += 1
      const isBehind = (isCount && params.includes("latest")) || /Transaction(?:ByHash|Receipt)$/u.test(method)
      return isBehind ? { head: before } : {}
    })
    const request = yield* Effect.forkScoped(Purchase.send(purchase))
    yield* Effect.sync(() => looks).pipe(until("no block was asked by its hash", (count) => count > 1))
    const sent = yield* sql<{ readonly hash: Hex }>`SELECT hash FROM relayer_broadcasts`
    assert.strictEqual((yield* Purchase.charges(purchase)).transaction, sent[0]?.hash)
    yield* rpc.calm
    assert.strictEqual((yield* Fiber.join(request)).status, 201)
    yield* Purchase.assertSettled(purchase)
  })
})

describe.concurrent("a transaction that no block includes before its authorization expires", () => {
  relayedBriefly("leaves its nonce to the payments that wait behind it", function* () {
    const { purchase, rpc } = yield* signedFixture
    const sent = overhear(rpc)
    yield* Purchase.automine(false)
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* Purchase.broadcasts(1)
    // There is no room for it in these blocks.
    const room = (gasLimit: bigint) => Purchase.onChain((client) => client.setBlockGasLimit({ gasLimit }))
    yield* room(60_000n)
    yield* Purchase.passExpiry
    yield* room(30_000_000n)
    const looks = Effect.map(Purchase.reconcile(purchase), () => sent.length)
    yield* eventually("replaced", looks, (count) => count > 1)
    assert.deepStrictEqual([...new Set(sent.map(nonceOf))], [0])
    yield* Purchase.mineAll
    assert.strictEqual(yield* Purchase.relayed, 1)
    yield* Purchase.afterNextSweep(purchase)
    assert.strictEqual((yield* Purchase.reconcile(purchase)).status, 402)
    yield* Purchase.assertFailed(purchase, "authorization_expired")
  })
})

/** Code of a wallet that accepts a signature only while this opcode gives zero. */
const onlyWithout = (opcode: string): Hex => `0x${opcode}15600a5760006000fd5b${agrees}`

describe.concurrent("a wallet whose contract answers the relayer differently", () => {
  relayed("is simulated with the relayer as its caller, before anything is claimed", function* () {
    const { purchase } = yield* signedFixture
    yield* giveCode(purchase.payer.address, onlyWithout("32"))
    const answer = yield* Purchase.send(purchase)
    assertAnswer(answer, 402, "payment_invalid", "invalid_exact_evm_signature")
    assert.isUndefined(yield* Purchase.attemptOf(purchase), "nothing is claimed")
  })

  relayedBriefly("does not make the relayer pay for more gas than a settlement takes", function* () {
    const { purchase } = yield* signedFixture
    yield* giveCode(purchase.payer.address, slow)
    const answer = yield* Purchase.send(purchase)
    assertAnswer(answer, 402, "payment_failed", "gas_too_high")
    assert.match(String(answer.json["message"]), /more gas .* Pay from another wallet\. It was not charged so far/u)
    assert.strictEqual(yield* Purchase.relayed, 0)
    yield* Purchase.assertFailed(purchase, "gas_too_high")
  })
})
