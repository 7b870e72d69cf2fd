/** A group that the node refuses or no block takes: a payment that it may have accepted is not sent again. */
import { Effect } from "effect"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, valuesOf } from "../lab/Suites.ts"

const { prepareGroup: prepare } = QueuedPayments

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
    const { first, others } = yield* prepare(url, 5)
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
    const { first, others } = yield* prepare(url, 5)
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
  it("is replaced, and each of its payments is made once", function* ({ rpc, url }) {
    const { first, others } = yield* prepare(url, 6)
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
