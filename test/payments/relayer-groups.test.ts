/** Payments that travel in one transaction: each ends by its own evidence, and what one does costs its neighbours nothing. */
import { Effect, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { multicall3 } from "../../schema/payments/Usdc.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { verifyChain } from "../../src/cli/verify/Chain.ts"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { until } from "../lab/Eventually.ts"
import { type Answer, newPayer } from "../lab/Fixture.ts"
import { agreeing, burning, empty, giveCode } from "../lab/buyer/ThirdParty.ts"
import { apart, assert, assertEach, valuesOf } from "../lab/Suites.ts"

const { prepareMany: prepare } = QueuedPayments

const statuses = (answers: ReadonlyArray<Answer>) => answers.map(({ status }) => status)

/** Whether the parameters of a call carry two or more of these payments. */
const isGroupOf = (purchases: ReadonlyArray<Purchase.Purchase>) => (params: string) =>
  purchases.filter(({ nonce }) => params.includes(nonce.slice(2))).length > 1

/** Catches the broadcast of the group that these payments travel in; `order` is theirs in it. */
const catchGroup = (purchases: ReadonlyArray<Purchase.Purchase>) =>
  Effect.map(Proxies, ({ rpc }) => {
    let group = ""
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => {
      if (isGroupOf(purchases)(params)) group = params
      return isGroupOf(purchases)(params)
    })
    const order = () => purchases.toSorted((a, b) => group.indexOf(a.nonce.slice(2)) - group.indexOf(b.nonce.slice(2)))
    return { ...trap, order }
  })

const settledInTheEnd = Effect.fnUntraced(function* (url: string, purchases: ReadonlyArray<Purchase.Purchase>) {
  for (const one of purchases) {
    yield* QueuedPayments.eventually("settled", Purchase.reconcile(url, one), ({ status }) => status === 200)
    yield* Purchase.assertSettled(url, one)
  }
})

const patient = proxiedServer("relayer", "20 seconds")

apart("payments that wait during another broadcast", patient, (it) => {
  it("travel in one transaction, and each has its own stone, receipt and charge", function* ({ url }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 9)
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    assert.deepStrictEqual(statuses([yield* crowd.first, ...(yield* crowd.others)]), Array(9).fill(201))
    const sent = yield* QueuedPayments.sentFor([first, ...others])
    assertEach(sent, ({ isGroup, payments }) => [isGroup, payments], [
      [false, 1],
      [true, 8],
    ])
    for (const one of others) {
      const { transaction } = yield* Purchase.assertSettled(url, one)
      assert.strictEqual(transaction, sent[1]?.hash)
    }
  })

  it("leave behind one that its wallet can no longer pay, which is refused as it would be alone", function* ({ url }) {
    const [first, poor, ...others] = yield* prepare(url, 6)
    if (first === undefined || poor === undefined) return
    const crowd = yield* QueuedPayments.gather(url, first, [poor, ...others])
    yield* empty(poor.payer)
    yield* crowd.letGo
    const [refused, ...settled] = yield* crowd.others
    assert.deepStrictEqual(statuses(settled), Array(4).fill(201))
    assert.deepStrictEqual(refused && Purchase.reasonIn(refused), [
      402,
      "payment_failed",
      "invalid_exact_evm_insufficient_balance",
    ])
    const sent = yield* QueuedPayments.sentFor([first, poor, ...others])
    assert.deepStrictEqual(valuesOf(sent, "payments"), [1, 4])
    assert.strictEqual((yield* QueuedPayments.sentFor([poor])).filter(({ payments }) => payments > 0).length, 0)
    yield* Purchase.assertFailed(url, poor, "invalid_exact_evm_insufficient_balance")
  })

  it("are paid without the one whose wallet is emptied after the rehearsal", function* ({ sql, url }) {
    const [first, poor, ...others] = yield* prepare(url, 6)
    if (first === undefined || poor === undefined) return
    const caught = yield* catchGroup(others)
    const crowd = yield* QueuedPayments.gather(url, first, [poor, ...others])
    yield* crowd.letGo
    yield* caught.arrived
    yield* empty(poor.payer)
    yield* caught.release
    const [open, ...settled] = yield* crowd.others
    assert.deepStrictEqual(statuses(settled), Array(4).fill(201))
    if (open !== undefined) Purchase.assertPending(url, poor, open)
    Purchase.assertPending(url, poor, yield* Purchase.reconcile(url, poor))
    const sent = yield* QueuedPayments.sentFor([first, poor, ...others])
    assert.deepStrictEqual(valuesOf(sent, "payments"), [1, 5])
    // Its share of the gas is lost, those of the others are not.
    const used = yield* QueuedPayments.gasOf([poor])
    assert.deepStrictEqual(yield* sql`SELECT sum(lost_gas)::int AS lost FROM payment_payers`, [
      { lost: used - Math.floor((used * 4) / 5) },
    ])
    // It had gas enough, so that no neighbour is at fault.
    yield* Effect.flatMap(LocalChain, ({ fund }) => fund(poor.payer.address, Purchase.price))
    const again = yield* Purchase.send(url, yield* Purchase.prepare(url, undefined, poor.payer))
    assert.deepStrictEqual(Purchase.reasonIn(again), [402, "payment_invalid", "wallet_did_not_pay"])
    yield* Purchase.passExpiry
    yield* Purchase.reconcile(url, poor)
    yield* Purchase.afterNextSweep(poor)
    assert.strictEqual((yield* Purchase.reconcile(url, poor)).status, 402)
    assert.deepInclude(yield* Purchase.books(poor), { state: "failed", charged: 0, stones: 0, claims: 0 })
    yield* Purchase.audit(url)
  })

  it("are sent alone after one wallet used up all gas, and that wallet is refused afterwards", function* ({ url }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 7)
    const caught = yield* catchGroup(others)
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    yield* caught.arrived
    // If this wallet comes first in the transaction, all behind it are left without gas.
    const [burner, ...honest] = caught.order()
    if (burner === undefined) return
    yield* giveCode(burner.payer.address, burning)
    yield* caught.release
    yield* crowd.others
    yield* settledInTheEnd(url, honest)
    const sent = yield* QueuedPayments.sentFor([first, ...others])
    assert.isAtMost(sent.filter(({ payments }) => payments > 0).length, 2 + honest.length)
    yield* Purchase.reconcile(url, burner)
    yield* Effect.flatMap(LocalChain, ({ fund }) => fund(burner.payer.address, 2n * Purchase.price))
    const again = yield* Purchase.prepare(url, Purchase.price, burner.payer)
    yield* giveCode(burner.payer.address, agreeing)
    const refused = yield* Purchase.send(url, again)
    assert.deepStrictEqual(Purchase.reasonIn(refused), [402, "payment_invalid", "wallet_reverted_settlement"])
    assert.match(
      String(refused.json["message"]),
      /for an hour\. This request charged nothing; until its validBefore .* Pay from another wallet/u,
    )
    // For a while no other group loses gas to such a wallet.
    const [next, ...later] = yield* prepare(url, 4)
    if (next === undefined) return
    const apart = yield* QueuedPayments.gather(url, next, later)
    yield* apart.letGo
    assert.deepStrictEqual(statuses(yield* apart.others), Array(3).fill(201))
    assert.isFalse((yield* QueuedPayments.sentFor(later)).some(({ isGroup, payments }) => isGroup && payments > 0))
  })

  it("go without wallets with code: one travels alone, and one that got it after its claim is not sent", function* ({
    url,
  }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 5)
    const [smart, ...plain] = others
    if (smart === undefined) return assert.fail()
    yield* giveCode(smart.payer.address, agreeing)
    const payer = yield* newPayer(5n * Purchase.price)
    const changing = yield* Effect.forEach([1, 2, 3, 4, 5], () => Purchase.prepare(url, undefined, payer))
    const crowd = yield* QueuedPayments.gather(url, first, [...changing, ...others])
    yield* giveCode(payer.address, agreeing)
    yield* crowd.letGo
    const answers = yield* crowd.others
    assert.deepStrictEqual(statuses(answers.slice(5)), Array(4).fill(201))
    for (const answer of answers.slice(0, 5)) {
      assert.deepStrictEqual(Purchase.reasonIn(answer), [402, "payment_failed", "wallet_got_code"])
      assert.match(String(answer.json["message"]), /got code .* This request charged nothing; until its validBefore/u)
    }
    const paying = (purchases: ReadonlyArray<Purchase.Purchase>) =>
      Effect.map(QueuedPayments.sentFor(purchases), (sent) => sent.filter(({ payments }) => payments > 0))
    assertEach(yield* paying([smart]), ({ isGroup }) => isGroup, [false])
    assertEach(yield* paying(plain), ({ isGroup, payments }) => [isGroup, payments], [[true, 3]])
    assert.isEmpty(yield* paying(changing))
    yield* Purchase.audit(url)
  })

  it.on(proxiedServer("relayer", "20 seconds", "1 hour", 1))(
    "are sent one by one where groups are switched off",
    function* ({ url }) {
      const { first, others } = yield* QueuedPayments.prepareGroup(url, 4)
      const crowd = yield* QueuedPayments.gather(url, first, others)
      yield* crowd.letGo
      assert.deepStrictEqual(statuses(yield* crowd.others), Array(3).fill(201))
      const sent = yield* QueuedPayments.sentFor([first, ...others])
      assert.deepStrictEqual(
        [valuesOf(sent, "isGroup"), valuesOf(sent, "payments")],
        [Array(4).fill(false), [1, 1, 1, 1]],
      )
    },
  )

  it("are sent one by one where the chain has no Multicall3", function* ({ url }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 4)
    yield* giveCode(multicall3, "0x")
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    assert.deepStrictEqual(statuses(yield* crowd.others), Array(3).fill(201))
    assert.strictEqual((yield* QueuedPayments.sentFor(others)).filter(({ isGroup }) => isGroup).length, 0)
  })
})

apart("two stones of one wallet in one transaction", patient, (it) => {
  it("are two transfers to every verifier", function* ({ url }) {
    const [first] = yield* prepare(url, 1)
    if (first === undefined) return
    const payer = yield* newPayer(2n * Purchase.price)
    const others = yield* Effect.forEach([1, 2], () => Purchase.prepare(url, undefined, payer))
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    assert.deepStrictEqual(statuses(yield* crowd.others), [201, 201])
    const { rpcUrl } = yield* LocalChain
    const verified = verifyChain(url, Option.some(rpcUrl)).pipe(Effect.provide(FetchHttpClient.layer))
    assert.strictEqual((yield* verified).stones, 3)
  })
})

// Not before all of a crowd have come.
apart("a group that the node rejects", proxiedServer("relayer", "6 seconds"), (it) => {
  it.on(patient)("although it accepted the transaction is not sent again", function* ({ rpc, url }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 5)
    rpc.arm("eth_sendRawTransaction", "deny", isGroupOf(others))
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    for (const { status, text } of yield* crowd.others) assert.strictEqual(status, 201, text)
    const sent = yield* QueuedPayments.sentFor([first, ...others])
    assert.deepStrictEqual(valuesOf(sent, "payments"), [1, 4])
  })

  it.each([
    ["for a transient reason stays open as a whole, and its members are not sent one by one", "eth_sendRawTransaction"],
    ["to rehearse for now waits as a whole, and is rehearsed again", "eth_call"],
  ] as const)("%s", function* ([, refused], { rpc, url }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 5)
    const crowd = yield* QueuedPayments.gather(url, first, others)
    rpc.arm(refused, "refusal", isGroupOf(others))
    let singles = 0
    rpc.arm(refused === "eth_call" ? "eth_estimateGas" : refused, "holdBefore", (params) => {
      if (others.some(({ nonce }) => params.includes(nonce.slice(2)))) singles += 1
      return false
    })
    yield* crowd.letGo
    for (const [index, answer] of (yield* crowd.others).entries())
      Purchase.assertPending(url, others[index] ?? first, answer)
    assert.strictEqual(singles, 0, "none is sent or asked about by itself")
    yield* rpc.calm
    yield* settledInTheEnd(url, others)
  })
})

apart("a group that no block includes", proxiedServer("relayer", "3 seconds"), (it) => {
  it("is replaced, and each of its payments is made once", function* ({ url }) {
    const { first, others } = yield* QueuedPayments.prepareGroup(url, 6)
    const caught = yield* catchGroup(others)
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    yield* caught.arrived
    yield* Purchase.automine(false)
    yield* caught.release
    for (const answer of yield* crowd.others) assert.strictEqual(answer.status, 202, answer.text)
    yield* QueuedPayments.raiseFees
    // No more often than the limit of an address lets five ask for a minute.
    const looks = Effect.forEach(others, (one) => Purchase.reconcile(url, one), { concurrency: "unbounded" })
    yield* looks.pipe(until("never settled", (answers) => answers.every(({ status }) => status === 200), 40, 1_500))
    yield* Purchase.ended(first)
    for (const one of others) yield* Purchase.assertSettled(url, one)
    yield* Purchase.assertNextStone(url)
  })
})

apart("two servers with one relayer key", patient, (it) => {
  it("settle each of many payments once, in groups", function* ({ url }) {
    const servers = [url, yield* anotherServer()]
    const purchases = yield* prepare(url, 12)
    // Each is sent to both at once, as an impatient client does.
    const answers = yield* Effect.forEach(
      purchases.flatMap((one) => servers.map((server) => [one, server] as const)),
      ([one, server]) => Purchase.send(server, one),
      { concurrency: "unbounded" },
    )
    for (const { status, text } of answers) assert.include([200, 201, 202], status, text)
    for (const one of purchases) {
      yield* QueuedPayments.eventually("settled", Purchase.reconcile(url, one), ({ status }) => status === 200)
      assert.deepInclude(yield* Purchase.books(one), { state: "settled", charged: 1, acts: 1, stones: 1 })
    }
    yield* Purchase.audit(url)
    assert.isBelow((yield* QueuedPayments.sentFor(purchases)).length, purchases.length)
  })
})
