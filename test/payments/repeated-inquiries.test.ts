/** One look at one node ends no attempt as unpaid: its answer must be confirmed a sweep later, and missing answers prove nothing. */
import { Effect } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { neighbours, proxiedServer } from "../lab/server/ProxiedServer.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { apart, assert } from "../lab/Suites.ts"

/** A purchase whose transaction never reaches the node. */
const unsent = Effect.gen(function* () {
  const { purchase, rpc, url } = yield* signedFixture
  yield* Purchase.mine(3)
  rpc.arm("eth_sendRawTransaction", "dropBefore")
  Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
  yield* rpc.calm
  return { url, rpc, purchase }
})

apart("an attempt that was never paid", proxiedServer("relayer"), (it) => {
  // I4
  it("fails once two inquiries a sweep apart agree, however many servers inquire at once", function* () {
    const { purchase, url } = yield* unsent
    yield* Purchase.passExpiry
    const servers = [url, ...(yield* neighbours(2, "relayer"))]
    const many = Effect.forEach([...servers, ...servers], (server) => Purchase.reconcile(server, purchase), {
      concurrency: "unbounded",
    })
    for (const answer of yield* many) Purchase.assertPending(url, purchase, answer)
    yield* Purchase.afterNextSweep(purchase)
    assert.deepStrictEqual([...new Set((yield* many).map(({ status }) => status))], [402])
    yield* Purchase.assertFailed(url, purchase, "authorization_expired")
  })

  it("does not fail when an inquiry between two verdicts found it open", function* () {
    const { purchase, rpc, url } = yield* unsent
    const before = yield* Purchase.height
    yield* Purchase.passExpiry
    Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
    yield* Purchase.afterNextSweep(purchase)
    // A node that is behind: on it the authorization has not ended.
    rpc.behave(() => ({ head: before }))
    Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
    yield* rpc.calm
    yield* Purchase.failsNow(url, purchase, "authorization_expired")
  })

  // I5
  it("keeps the first verdict while the node is unreachable", function* () {
    const { purchase, rpc, url } = yield* unsent
    yield* Purchase.passExpiry
    Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
    rpc.arm("*", "status500")
    Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
    yield* rpc.calm
    yield* Purchase.afterNextSweep(purchase)
    assert.strictEqual((yield* Purchase.reconcile(url, purchase)).status, 402)
    yield* Purchase.assertFailed(url, purchase, "authorization_expired")
  })
})
