/** A group that the node refuses or no block takes: a payment that it may have accepted is not sent again. */
import { Effect } from "effect"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, valuesOf } from "../lab/Suites.ts"

const { prepareMany: prepare } = QueuedPayments

const patient = proxiedServer("relayer", "20 seconds")
/** Not before all of a crowd have come. */
const impatient = proxiedServer("relayer", "6 seconds")

/** Whether the parameters of a call carry two or more of these payments. */
const isGroupOf = (purchases: ReadonlyArray<Purchase.Purchase>) => (params: string) =>
  purchases.filter(({ nonce }) => params.includes(nonce.slice(2))).length > 1

const settledInTheEnd = Effect.fnUntraced(function* (url: string, purchases: ReadonlyArray<Purchase.Purchase>) {
  for (const one of purchases) {
    yield* QueuedPayments.eventually("settled", Purchase.reconcile(url, one), ({ status }) => status === 200)
    yield* Purchase.assertSettled(url, one)
  }
})

apart("a group that the node rejects", impatient, (it) => {
  it.on(patient)("although it accepted the transaction is not sent again", function* ({ rpc, url }) {
    const [first, ...others] = yield* prepare(url, 5)
    if (first === undefined) return
    rpc.arm("eth_sendRawTransaction", "deny", isGroupOf(others))
    const crowd = yield* QueuedPayments.gather(url, first, others)
    yield* crowd.letGo
    for (const { status, text } of yield* crowd.others) assert.strictEqual(status, 201, text)
    const sent = yield* QueuedPayments.sentFor([first, ...others])
    assert.deepStrictEqual(valuesOf(sent, "payments"), [1, 4])
  })

  it("for a transient reason stays open as a whole, and its members are not sent one by one", function* ({ rpc, url }) {
    const [first, ...others] = yield* prepare(url, 5)
    if (first === undefined) return
    let singles = 0
    rpc.arm("eth_sendRawTransaction", "refusal", isGroupOf(others))
    const crowd = yield* QueuedPayments.gather(url, first, others)
    rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => {
      if (others.some(({ nonce }) => params.includes(nonce.slice(2)))) singles += 1
      return false
    })
    yield* crowd.letGo
    for (const [index, answer] of (yield* crowd.others).entries())
      Purchase.assertPending(url, others[index] ?? first, answer)
    assert.strictEqual(singles, 0)
    yield* rpc.calm
    yield* settledInTheEnd(url, others)
  })

  it("to rehearse for now waits as a whole, and is rehearsed again", function* ({ rpc, url }) {
    const [first, ...others] = yield* prepare(url, 5)
    if (first === undefined) return
    const crowd = yield* QueuedPayments.gather(url, first, others)
    let estimates = 0
    rpc.arm("eth_call", "refusal", isGroupOf(others))
    rpc.arm("eth_estimateGas", "holdBefore", () => {
      estimates += 1
      return false
    })
    yield* crowd.letGo
    for (const [index, answer] of (yield* crowd.others).entries())
      Purchase.assertPending(url, others[index] ?? first, answer)
    assert.strictEqual(estimates, 0, "each is asked about by itself")
    yield* rpc.calm
    yield* settledInTheEnd(url, others)
  })
})

apart("a group that no block includes", proxiedServer("relayer", "3 seconds"), (it) => {
  it("is replaced, and each of its payments is made once", function* ({ rpc, url }) {
    const [first, ...others] = yield* prepare(url, 6)
    if (first === undefined) return
    const caught = rpc.arm("eth_sendRawTransaction", "holdBefore", isGroupOf(others))
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
