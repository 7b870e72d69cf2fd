/** For every answer or silence of settlement, node, database or client, a payment is open until evidence ends it, and then correctly. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { facilitated, onServer, relayed, relayedBriefly, relayedInFiveSeconds } from "../lab/server/Live.ts"
import type { FacilitatorFault } from "../lab/proxy/Facilitator.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import type { NodeFault } from "../lab/proxy/Node.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { onOwnClock, pass } from "../lab/Clock.ts"
import { until } from "../lab/Eventually.ts"
import { paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { ask, newPayer, Proxies, TestServer } from "../lab/Fixture.ts"
import { stockPurchase } from "../lab/buyer/StockClient.ts"
import { assertAnswer, assertEach } from "../lab/Assertions.ts"

const relayedOnOwnClock = onServer(onOwnClock(proxiedServer("relayer")))

const facilitatedInThreeSeconds = onServer(proxiedServer("facilitator", "3 seconds"))

const facilitatedOnOwnClock = onServer(onOwnClock(proxiedServer("facilitator")))

/** The request is answered 202, the transaction is mined only then, and the same key finds its stone. */
const openThenPaid = Effect.gen(function* () {
  const { facilitator, purchase, rpc, url } = yield* signedFixture
  yield* Purchase.automine(false)
  Purchase.assertPending(purchase, yield* Purchase.send(purchase))
  Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
  Purchase.assertPending(purchase, yield* Purchase.send(purchase))
  yield* Purchase.mineAll
  yield* rpc.calm
  yield* facilitator.calm
  yield* Purchase.settlesNow(purchase)
  yield* Purchase.assertNextStone(url)
})

/** The request is answered 202 for as long as the authorization could still be used, and 402 from then on. */
const openThenFailed = Effect.gen(function* () {
  const { facilitator, purchase, rpc } = yield* signedFixture
  Purchase.assertPending(purchase, yield* Purchase.send(purchase))
  yield* facilitator.calm
  yield* Purchase.mine(4)
  Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
  yield* Purchase.passExpiry
  yield* rpc.calm
  const answer = yield* Purchase.secondInquiry(purchase)
  assert.strictEqual(answer.status, 402, answer.text)
  // A relayer whose node drops transactions counts on its own for two seconds.
  yield* pass(2_000)
  yield* Purchase.assertFailed(purchase, "authorization_expired")
})

/** The facilitator's answer does not matter once the transfer is there. */
const paidAtOnce = Effect.gen(function* () {
  const { facilitator, purchase } = yield* signedFixture
  yield* Purchase.settle(purchase)
  yield* facilitator.calm
  yield* Purchase.assertSettled(purchase)
})

describe.concurrent("a payment that the facilitator has broadcast", () => {
  const faults: ReadonlyArray<readonly [what: string, fault: FacilitatorFault]> = [
    ["does not answer", "holdAfter"],
    ["names a transaction that is not ours", "wrongHashAfter"],
    ["says that the payer has no money", "refuseAfter"],
  ]
  for (const [what, fault] of faults) {
    facilitatedInThreeSeconds(`settles although the facilitator ${what}, before the block and after it`, function* () {
      const { facilitator } = yield* Proxies
      facilitator.arm(fault)
      yield* openThenPaid
      facilitator.arm(fault, "mined")
      yield* paidAtOnce
    })
  }
})

describe.concurrent("a payment that the facilitator has not broadcast", () => {
  const faults: ReadonlyArray<readonly [what: string, fault: FacilitatorFault]> = [
    ["returns garbage", "nonsenseBefore"],
    ["invents a success", "imagineBefore"],
    ["refuses a payer who could pay", "refuseBefore"],
  ]
  for (const [what, fault] of faults) {
    facilitatedOnOwnClock(`fails, and charges nothing, when the facilitator ${what}`, function* () {
      const { facilitator } = yield* Proxies
      facilitator.arm(fault)
      yield* openThenFailed
    })
  }
})

describe.concurrent("a node that", () => {
  const after: ReadonlyArray<readonly [what: string, method: string, fault: NodeFault]> = [
    ["took the transaction and said nothing", "eth_sendRawTransaction", "holdAfter"],
    ["took the transaction and returns no receipt", "eth_getTransactionReceipt", "status500"],
  ]
  for (const [what, method, fault] of after) {
    relayedOnOwnClock(`${what} leaves the payment open until the chain settles it`, function* () {
      const { rpc } = yield* Proxies
      rpc.arm(method, fault)
      yield* openThenPaid
    })
  }

  relayedOnOwnClock("disconnected before it took the transaction delays the payment until it is back", function* () {
    const { purchase, rpc, url } = yield* signedFixture
    rpc.arm("eth_sendRawTransaction", "dropBefore")
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* rpc.calm
    yield* Purchase.reconcile(purchase).pipe(until("never brought to the chain", ({ status }) => status === 200))
    yield* Purchase.assertSettled(purchase)
    yield* Purchase.assertNextStone(url)
  })

  relayedOnOwnClock("once failed to state its chain id does not stop the relayer for good", function* () {
    const { rpc, url } = yield* paymentFixture
    rpc.arm("eth_chainId", "status500")
    const purchase = yield* Purchase.prepare()
    yield* Purchase.send(purchase)
    yield* rpc.calm
    // It may still be sent, and is recorded before the next stone is counted.
    yield* Purchase.storedAnswer(purchase)
    yield* Purchase.assertNextStone(url)
  })
})

const headerOf = (headers: Headers) =>
  JSON.parse(Buffer.from(headers.get("payment-response") ?? "", "base64").toString())

describe.concurrent("the `PAYMENT-RESPONSE` of a pending payment", () => {
  relayedInFiveSeconds("names the transaction that may still pay, from the first answer on", function* () {
    const { purchase } = yield* signedFixture
    yield* Purchase.automine(false)
    const answers = [yield* Purchase.send(purchase), yield* Purchase.reconcile(purchase)]
    for (const answer of answers) Purchase.assertPending(purchase, answer)
    yield* Purchase.mineAll
    const { transaction } = yield* Purchase.settlesNow(purchase)
    assertEach(answers, ({ headers }) => headerOf(headers).transaction, [transaction, transaction])
  })

  facilitated("names no transaction while none is known", function* () {
    const { facilitator, purchase } = yield* signedFixture
    facilitator.arm("nonsenseBefore")
    const answer = yield* Purchase.send(purchase)
    Purchase.assertPending(purchase, answer)
    assert.strictEqual(headerOf(answer.headers).transaction, "")
  })

  relayedBriefly("makes @x402/fetch neither throw nor sign again", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    yield* Purchase.automine(false)
    const purchase = yield* stockPurchase(url, payer)
    const { answer, result, settlements } = purchase
    assert.strictEqual(answer.status, 202)
    assert.deepStrictEqual(settlements, [headerOf(answer.headers)])
    assert.include(result, { status: 202, paymentStatus: "settle_failed" })
    assert.propertyVal(result.header, "errorReason", "settlement_pending")
    yield* Purchase.mineAll
    assert.strictEqual((yield* Purchase.storedAnswer(purchase)).status, 200)
    yield* Purchase.audit(url)
  })
})

describe.concurrent("a database that drops its connection", () => {
  relayed("after the COMMIT of a stone has recorded that stone", function* () {
    const { database, purchase, url } = yield* signedFixture
    database.arm(/^COMMIT$/u, "cutAfter")
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* database.calm
    yield* Purchase.assertSettled(purchase)
    yield* Purchase.assertNextStone(url)
  })
  relayed("before the COMMIT of a stone has not recorded it, and reconciling records it", function* () {
    const { database, purchase, url } = yield* signedFixture
    database.arm(/^COMMIT$/u, "cutBefore")
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    assert.deepInclude(yield* Purchase.books(purchase), { charged: 1, acts: 0, stones: 0, state: "pending" })
    yield* database.calm
    yield* Purchase.settlesNow(purchase)
    yield* Purchase.assertNextStone(url)
  })

  relayed("or refuses a stone for any other reason leaves its payment pending", function* () {
    const { purchase, sql, url } = yield* signedFixture
    yield* sql`ALTER TABLE acts ADD CONSTRAINT refused CHECK (false) NOT VALID`
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* sql`ALTER TABLE acts DROP CONSTRAINT refused`
    yield* Purchase.settlesNow(purchase)
    yield* Purchase.assertNextStone(url)
  })

  relayed("before the intent is stored leaves no attempt, and the payment valid", function* () {
    const { database, purchase } = yield* signedFixture
    database.arm(/INSERT INTO payment_attempts/u, "cutBefore")
    const answer = yield* Purchase.send(purchase)
    assertAnswer(answer, 503, "unavailable")
    assert.strictEqual(yield* Purchase.attemptOf(purchase), undefined)
    yield* database.calm
    yield* Purchase.settle(purchase)
    yield* Purchase.assertSettled(purchase)
  })
})

describe.concurrent("a client that disconnects during settlement", () => {
  relayed("finds its stone by its key", function* () {
    const { purchase, rpc, url } = yield* signedFixture
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
    const request = yield* Purchase.sendInto(trap, purchase)
    yield* Fiber.interrupt(request)
    // An answer to a later request: the server has seen by then that this client is gone.
    yield* ask(`${url}/livez`)
    yield* trap.release
    yield* Purchase.ended(purchase)
    yield* Purchase.assertSettled(purchase)
  })
})
