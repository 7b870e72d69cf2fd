/** An authorization that is on the chain already: whose it is, whom it paid, and what is said of it. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { transferTopic } from "../../src/payments/x402/chain/Eip3009.ts"
import { onServer, relayed } from "../lab/server/Live.ts"
import { onOwnClock, pass } from "../lab/Clock.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { type Answer, ask, newCommitment, newKey, newPayer, post, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { assertAnswer, assertNone } from "../lab/Assertions.ts"
import { paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"

const swept = onServer(proxiedServer("relayer", "20 seconds", "300 millis"))

const relayedOnOwnClock = onServer(onOwnClock(proxiedServer("relayer", "20 seconds")))

/** The same payment for another purchase. */
const otherwise = (purchase: Purchase.Purchase): Purchase.Purchase => {
  const key = newKey()
  return {
    ...purchase,
    key,
    body: { commitment: newCommitment() },
    headers: { ...purchase.headers, "idempotency-key": key },
  }
}

const assertBound = (answer: Answer) => assertAnswer(answer, 409, "payment_authorization_already_bound")

/** The refusal says what happened, and not that nothing was charged. */
const assertInvalid = (answer: Answer, words: RegExp) => {
  assertAnswer(answer, 402, "payment_invalid")
  assert.match(String(answer.json["message"]), words)
}

const untilOver = (validBefore: number) =>
  Effect.suspend(() => Effect.sleep(Math.max(0, validBefore * 1000 - Date.now() + 1000)))

/** Nothing is proven: the client retries later and signs no other payment. */
const assertUntold = (answer: Answer) => {
  assertAnswer(answer, 503, "facilitator_unavailable")
  assert.match(String(answer.json["message"]), /do not sign another payment before\. This request charged nothing\.$/u)
  assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
}

const seconds = () => Math.floor(Date.now() / 1000)

describe.concurrent("a payment", () => {
  relayedOnOwnClock(
    "whose authorization another attempt holds belongs to that attempt once settled, without a node, and after it expires",
    function* () {
      const { purchase, rpc, url } = yield* signedFixture
      assert.strictEqual((yield* Purchase.send(purchase)).status, 201)
      assertBound(yield* Purchase.send(otherwise(purchase)))
      const { headers } = otherwise(purchase)
      assertBound(yield* ask(`${url}/api/acquire/moss-hare`, post({}, headers)))
      rpc.arm("*", "status500")
      assertBound(yield* Purchase.send(otherwise(purchase)))
      yield* rpc.calm
      yield* Purchase.passExpiry
      yield* pass(320_000)
      assertBound(yield* Purchase.send(otherwise(purchase)))
      yield* Purchase.assertSettled(purchase)
    },
  )

  relayed("under verification while a duplicate of its request settles gets the duplicate's answer", function* () {
    const { purchase, rpc } = yield* signedFixture
    const trap = rpc.arm("eth_call", "holdBefore")
    const slower = yield* Purchase.sendInto(trap, purchase)
    yield* rpc.calm
    const { answer: faster } = yield* Purchase.settle(purchase)
    yield* trap.release
    const answer = yield* Fiber.join(slower)
    assert.deepStrictEqual([answer.status, answer.text], [200, faster.text.replace(/false\}$/u, "true}")])
    yield* Purchase.assertSettled(purchase)
  })
})

describe.concurrent("an authorization that paid us and has no attempt", () => {
  swept("buys an act in time, even after its wallet was emptied, and costs us no gas", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    yield* Purchase.mine(3)
    const purchase = yield* Purchase.prepare({ funds: Purchase.price })
    const transaction = yield* ThirdParty.broadcast(purchase)
    const head = yield* Purchase.height
    yield* sql`UPDATE payment_pause SET reason = 'stock-taking', since = now()`
    yield* ask(`${url}/api/witness`, { method: "POST" }).pipe(until("sold on", ({ status }) => status === 503))
    const answer = yield* Purchase.send(purchase)
    assert.strictEqual(answer.status, 201, `what is paid is delivered, even while sales are paused: ${answer.text}`)
    assert.strictEqual(JSON.parse(answer.text).receipt.transaction, transaction)
    assert.strictEqual(yield* Purchase.relayed, 0)
    // A search begins where its block, if it is orphaned, can still be found.
    assert.deepStrictEqual(yield* sql`SELECT payment ->> 'fromBlock' AS from FROM payment_attempts`, [
      { from: String(head - 2n) },
    ])
    yield* Purchase.assertSettled(purchase)
  })

  it.live.each([
    ["after it expired", 2, true, {}],
    ["with a lifetime above the maximum", 3600, false, {}],
    ["in a block with more logs than the node answers with", 3600, false, { logsAtMost: 0 }],
  ] as const)("is refused as already paid %s, and recorded once for the operator", ([, life, isAwaited, scanned]) =>
    Effect.gen(function* () {
      const { rpc, sql } = yield* paymentFixture
      rpc.behave((method, _, params) => (method === "eth_getLogs" && params.includes(transferTopic) ? scanned : {}))
      const payer = yield* newPayer()
      const purchase = yield* Purchase.prepare({ payer, validBefore: String(seconds() + life) })
      // Its block comes before its expiry on a slow machine, too.
      yield* Purchase.onChain(async (client) => {
        const { timestamp } = await client.getBlock()
        await client.setNextBlockTimestamp({ timestamp: timestamp + 1n })
      })
      const transaction = yield* ThirdParty.broadcast(purchase)
      if (isAwaited) yield* untilOver(Number(purchase.validBefore))
      // An orphaned transfer has not paid: nothing is recorded before that is impossible.
      assertUntold(yield* Purchase.send(purchase))
      yield* Purchase.mine(4)
      for (const one of [purchase, otherwise(purchase)]) {
        const answer = yield* Purchase.send(one)
        assertInvalid(answer, /paid us in transaction .* belongs to no purchase here\. .* Do not sign again/u)
        assert.include(answer.text, transaction)
        assert.notMatch(answer.text, /nothing was charged/iu)
      }
      yield* Purchase.written.pipe(until("it is not recorded", ({ unmatched }) => unmatched === 1))
      // Known by now: the node has nothing to add.
      rpc.arm("*", "status500", (params) => params.includes(purchase.nonce.slice(2)))
      assertInvalid(yield* Purchase.send(otherwise(purchase)), /belongs to no purchase/u)
      const rows = yield* sql<{ payer: string; transaction: string; amountAtomic: string }>`
          SELECT payer, transaction, amount_atomic::text AS amount_atomic FROM unmatched_payments`
      assert.deepStrictEqual(rows, [
        { payer: payer.address.toLowerCase(), transaction, amountAtomic: Purchase.price.toString() },
      ])
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds", "300 millis"))),
  )
})

describe.concurrent("an authorization that did not pay us", () => {
  const ends = [
    [
      "cancelled where its wallet cancelled it",
      ThirdParty.cancel,
      /cancelled this authorization .* Nothing was charged\. Sign a new one\.$/u,
    ],
    [
      "used elsewhere where its nonce paid another recipient",
      ThirdParty.spendElsewhere,
      /which did not pay us its amount\. This request charged nothing\. Sign a new one\.$/u,
    ],
    [
      "used elsewhere where its nonce sent us nothing",
      (purchase: Purchase.Purchase) => ThirdParty.spend(purchase, { value: 0n }),
      /which did not pay us its amount\. This request charged nothing\. Sign a new one\.$/u,
    ],
  ] as const
  it.live.each(ends)("is refused as %s", ([, end, words]) =>
    Effect.gen(function* () {
      const { purchase } = yield* signedFixture
      const transaction = yield* end(purchase)
      assertUntold(yield* Purchase.send(purchase))
      yield* Purchase.mine(4)
      const answer = yield* Purchase.send(purchase)
      assertInvalid(answer, words)
      assert.include(answer.text, transaction)
      assert.deepInclude(yield* Purchase.written, { attempts: 0, claims: 0, unmatched: 0 })
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )

  relayed("is refused as expired where it was never used, without a search for it", function* () {
    const { rpc } = yield* paymentFixture
    const purchase = yield* Purchase.prepare({ validBefore: String(seconds() - 5) })
    const said =
      /^payload\.authorization\.validBefore is past, or within \d+ seconds\. Check your clock: the server's says .* \(\d+\)\. Sign a new one\. This request charged nothing\.$/u
    const searches: Array<string> = []
    rpc.arm("eth_getLogs", "holdBefore", (params) => (searches.push(params), false))
    assertInvalid(yield* Purchase.send(purchase), said)
    yield* Purchase.passExpiry
    assertInvalid(yield* Purchase.send(purchase), said)
    assertNone(searches, (params) => params.includes(purchase.nonce.slice(2)))
    assert.deepInclude(yield* Purchase.written, { attempts: 0, claims: 0, unmatched: 0 })
  })
})
