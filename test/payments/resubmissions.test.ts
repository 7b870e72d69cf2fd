/** A settled payment whose block was orphaned is resubmitted once, while it can be paid. */
import { Effect, Fiber } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { until } from "../lab/Eventually.ts"
import { empty } from "../lab/buyer/ThirdParty.ts"
import * as Settled from "./Settled.ts"
import { apart, assert } from "../lab/Suites.ts"

const { assertKept, at, buy, chargedAgain, hasten, neighbour, readAct, replaced, settledLongAgo } = Settled

apart("a settled transfer whose block was orphaned", proxiedServer("facilitator", "5 seconds"), (it) => {
  for (const settledBy of ["relayer", "facilitator"] as const) {
    it.on(proxiedServer(settledBy, "1 second", "200 millis"))(
      `is resubmitted by the ${settledBy} before the old block is final, while it can be paid`,
      function* ({ url }) {
        const bought = yield* buy
        yield* replaced
        assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 0)
        yield* settledLongAgo
        const { transaction = "0x" } = yield* chargedAgain(bought)
        assert.strictEqual((yield* readAct(bought)).finality, "pending")
        yield* Purchase.mine(2)
        const receipt = yield* Settled.becomes(bought, "final", hasten)
        assert.notStrictEqual(transaction, bought.receipt.transaction)
        assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final", currentTransaction: transaction })
        assert.strictEqual((yield* Settled.health).status, 200)
        yield* assertKept(bought)
        yield* Purchase.audit(url)
        yield* Purchase.assertNextStone(url)
      },
    )
  }

  it("is resubmitted to a facilitator by one server at a time", function* ({ facilitator, rpc }) {
    const [one, other, third] = yield* Effect.all([neighbour(), neighbour(), neighbour()])
    const bought = yield* buy
    yield* replaced
    yield* settledLongAgo
    const asked = facilitator.asked()
    const settlement = facilitator.arm("holdBefore")
    let looks = 0
    const look = rpc.arm("eth_getTransactionReceipt", "holdBefore", () => {
      looks += 1
      return true
    })
    const looking = (so: number) => Effect.sync(() => looks).pipe(until("no sweep inquires", (now) => now >= so))
    yield* hasten
    const first = yield* Effect.forkChild(one.sweep)
    yield* looking(1)
    // It is slow to look: its leased rows fall due again.
    yield* hasten
    const second = yield* Effect.forkChild(other.sweep)
    yield* looking(2)
    yield* look.release
    yield* settlement.arrived
    assert.strictEqual(yield* third.sweep, 0, "it is kept from others as long as it is handed in")
    yield* facilitator.calm
    yield* settlement.release
    yield* Effect.all([Fiber.join(first), Fiber.join(second)])
    assert.strictEqual(facilitator.asked(), asked + 1)
    assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 1)
  })

  it("is charged once by a facilitator that lies, sends nothing, or sends too late", function* ({ facilitator, url }) {
    const { sweep } = yield* neighbour(1)
    const bought = yield* buy
    yield* replaced
    yield* settledLongAgo
    for (const lie of ["imagineBefore", "nonsenseBefore", "refuseBefore"] as const) {
      const told = facilitator.arm(lie)
      yield* hasten
      assert.strictEqual(yield* sweep, 1)
      yield* told.arrived
      assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 0)
      assert.deepStrictEqual(yield* readAct(bought), { ...bought.receipt, finality: "pending" })
    }
    const late = facilitator.arm("holdBefore")
    yield* hasten
    assert.strictEqual(yield* sweep, 1, "whoever does not answer is not waited for")
    yield* late.arrived
    yield* facilitator.calm
    yield* hasten
    assert.strictEqual(yield* sweep, 1)
    yield* chargedAgain(bought)
    yield* late.release
    // It settles one after the other: the late one has had its turn.
    yield* Purchase.assertNextStone(url)
    assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 1)
    yield* Purchase.mine(2)
    yield* hasten
    yield* sweep
    assert.strictEqual((yield* readAct(bought)).finality, "final")
    yield* assertKept(bought)
  })

  it("is not resubmitted while it is in flight, about to expire, or its wallet is empty", function* ({ facilitator }) {
    const { sweep } = yield* neighbour()
    const bought = yield* buy
    const raw = yield* Settled.rawOf(bought)
    yield* replaced
    yield* settledLongAgo
    const asked = facilitator.asked()
    yield* Purchase.automine(false)
    yield* Purchase.onChain((client) => client.sendRawTransaction({ serializedTransaction: raw }))
    yield* hasten
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(facilitator.asked(), asked, "it waits in the node again")
    yield* Purchase.onChain((client) => client.dropTransaction({ hash: bought.receipt.transaction }))
    yield* Purchase.automine(true)
    yield* hasten
    assert.strictEqual(yield* at(Number(bought.purchase.validBefore) - 8, sweep), 1)
    assert.strictEqual(facilitator.asked(), asked, "it is about to end")
    yield* empty(bought.purchase.payer)
    yield* hasten
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(facilitator.asked(), asked, "its wallet is empty")
  })
})
