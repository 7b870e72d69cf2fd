/** The fate of a settled transfer: still there once its block is final, found elsewhere, resubmitted once, or gone for good and said so. */
import { Effect, Fiber, Logger, Option } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { ask, read } from "../lab/Fixture.ts"
import { broadcast, empty } from "../lab/buyer/ThirdParty.ts"
import * as Settled from "./Settled.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, assertEach } from "../lab/Suites.ts"

const { assertKept, becomes, buy, hasten, health, readAct, replaced, settledLongAgo } = Settled

const sweeper = proxiedServer("relayer", "5 seconds", "200 millis")

apart("a settled transfer", proxiedServer("relayer", "5 seconds"), (it) => {
  // I14
  it.on(sweeper)("is pending until its block is final, and final from then on, in every read", function* ({ url }) {
    const bought = yield* buy
    assert.strictEqual((yield* readAct(bought)).finality, "pending")
    yield* Purchase.mine(2)
    const receipt = yield* becomes(bought, "final")
    assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final" })
    const newest = yield* read("/api/acts?limit=1")
    assert.deepStrictEqual(newest.acts[0].receipt, receipt)
    assert.deepStrictEqual((yield* read(`/api/witness/${bought.id}`)).receipt, receipt)
    const page = yield* ask(`${url}/acts/${bought.id}`, { headers: { accept: "text/html" } })
    assert.match(page.text, /<dt>Finality<\/dt>\s*<dd>Final<\/dd>/u)
    yield* assertKept(bought)
  })

  it.on(sweeper)("that a reorganisation moved to another transaction settles there", function* ({ url }) {
    const bought = yield* buy
    yield* Purchase.reorganise(1)
    const elsewhere = yield* broadcast(bought.purchase)
    assert.notStrictEqual(elsewhere, bought.receipt.transaction)
    yield* Purchase.mine(2)
    const receipt = yield* becomes(bought, "final")
    assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final", currentTransaction: elsewhere })
    for (const transaction of [elsewhere, bought.receipt.transaction]) {
      const page = yield* ask(`${url}/v2/acts?q=${transaction}`)
      assert.include(page.text, `/witness/${bought.id}`, "it is found by both transactions")
    }
    assert.strictEqual((yield* health).status, 200)
    yield* assertKept(bought)
    yield* Purchase.audit(url)
  })

  // I14
  it.on(sweeper)("that a reorganisation moved to a later block is final there, and not before", function* () {
    const bought = yield* buy
    const raw = yield* Settled.rawOf(bought)
    const block = yield* Purchase.height
    yield* Purchase.reorganise(1)
    yield* Purchase.mine(2)
    yield* Purchase.onChain((client) => client.sendRawTransaction({ serializedTransaction: raw }))
    assert.strictEqual(yield* Settled.foundAbove(block), "pending")
    assert.strictEqual((yield* readAct(bought)).finality, "pending")
    yield* Purchase.mine(2)
    yield* hasten
    assert.deepStrictEqual(yield* becomes(bought, "final"), { ...bought.receipt, finality: "final" })
    yield* assertKept(bought)
  })

  it.on(proxiedServer("facilitator", "5 seconds", "200 millis"))(
    "that is lost for good is marked so, keeps its row, and fails the health until an operator acknowledges it",
    function* ({ facilitator, sql }) {
      const bought = yield* buy
      const refusal = facilitator.arm("refuseBefore")
      yield* Purchase.reorganise(1)
      yield* Purchase.mine(4)
      // It could still be brought back: nothing is lost before its authorization has ended.
      yield* refusal.arrived
      yield* Settled.looked(2)
      assert.strictEqual((yield* readAct(bought)).finality, "pending")
      assert.strictEqual((yield* health).status, 200)
      yield* Purchase.passExpiry
      assert.deepStrictEqual(yield* becomes(bought, "lost", hasten), { ...bought.receipt, finality: "lost" })
      const failing = yield* health
      assert.strictEqual(failing.status, 503)
      assert.deepInclude(failing.json, { ok: false })
      assert.deepStrictEqual(failing.json["payments"], {
        enabled: true,
        state: "failing",
        pending: 0,
        settlement: "ok",
        obstacle: null,
      })
      assert.deepInclude(yield* Purchase.attemptOf(bought.purchase), { state: "settled", acts: 1, stones: 1 })
      yield* assertKept(bought)
      yield* sql`UPDATE payment_attempts SET acknowledged_at = now() WHERE finality = 'lost'`
      assert.strictEqual((yield* health).status, 200)
      assert.strictEqual((yield* readAct(bought)).finality, "lost")
    },
  )

  // I15
  it("that is lost for good is marked so, and logged once, when two inquiries a sweep apart agree", function* () {
    const bought = yield* buy
    yield* Purchase.reorganise(1)
    yield* Purchase.passExpiry
    const alarms: Array<string> = []
    const ears = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === "Error") alarms.push(JSON.stringify(message))
    })
    const { sweep } = yield* Settled.inquirer
    const look = Effect.andThen(hasten, sweep).pipe(Effect.provide(Logger.layer([ears])))
    for (const _ of [1, 2, 3]) yield* look
    yield* Purchase.doubted(bought.purchase)
    assert.strictEqual((yield* readAct(bought)).finality, "pending")
    yield* Purchase.afterNextSweep(bought.purchase)
    yield* look
    assert.strictEqual((yield* readAct(bought)).finality, "lost")
    yield* look
    assertEach(alarms, (alarm) => alarm.includes(bought.id) && alarm.includes(bought.receipt.transaction), [true])
  })

  it.on(proxiedServer("facilitator", "5 seconds"))(
    "that cannot be inquired about before its block is final is inquired about within a minute",
    function* ({ rpc, sql }) {
      const { sweep } = yield* Settled.neighbour()
      yield* buy
      yield* settledLongAgo
      yield* sql`UPDATE payment_attempts
        SET checks = 11, doubted_reason = 'authorization_expired', doubted_at = now()`
      const doubt = sql`SELECT doubted_at, doubted_reason FROM payment_attempts`
      const before = yield* doubt
      rpc.arm("eth_getTransactionReceipt", "refusal")
      yield* hasten
      assert.strictEqual(yield* sweep, 1)
      assert.deepStrictEqual(yield* doubt, before, "an error neither doubts a payment nor believes it")
      assert.deepStrictEqual(
        yield* sql`SELECT checks, next_check_at <= now() + interval '1 minute' AS soon FROM payment_attempts`,
        [{ checks: 12, soon: true }],
      )
    },
  )

  it("that is about to expire is not leased until then by a server that may be stopped", function* ({ sql }) {
    yield* buy
    const { taken, transfers } = yield* Settled.leased
    yield* sql`UPDATE payment_attempts SET valid_before = extract(epoch FROM now())::bigint + 300`
    assert.isTrue(Option.isSome(yield* transfers.hold(taken, 3_600_000)))
    const [row] = yield* sql<{ readonly left: number }>`
        SELECT (valid_before - extract(epoch FROM next_check_at))::float8 AS left FROM payment_attempts`
    assert.closeTo(row?.left ?? 0, 20, 0.01)
  })

  it("that was found is not put in doubt by an inquiry that began before", function* ({ sql }) {
    yield* buy
    const { taken, transfers } = yield* Settled.leased
    yield* transfers.confirm(taken.id, "pending", 1n, Option.none())
    yield* transfers.defer(taken, "authorization_expired", 1_000)
    assert.deepStrictEqual(yield* sql`SELECT doubted_reason FROM payment_attempts`, [{ doubtedReason: null }])
  })
})

apart("a settled transfer whose block was orphaned", proxiedServer("facilitator", "5 seconds"), (it) => {
  for (const settledBy of ["relayer", "facilitator"] as const) {
    it.on(proxiedServer(settledBy, "5 seconds", "200 millis"))(
      `is resubmitted by the ${settledBy} before the old block is final, while it can be paid`,
      function* ({ url }) {
        const bought = yield* buy
        yield* replaced
        assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 0)
        yield* settledLongAgo
        const { transaction = "0x" } = yield* Settled.chargedAgain(bought)
        assert.strictEqual((yield* readAct(bought)).finality, "pending")
        yield* Purchase.mine(2)
        const receipt = yield* becomes(bought, "final", hasten)
        // The relayer sends the same transaction again, the facilitator another one.
        const isSame = settledBy === "relayer"
        assert.strictEqual(transaction === bought.receipt.transaction, isSame)
        const moved = isSame ? {} : { currentTransaction: transaction }
        assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final", ...moved })
        assert.strictEqual((yield* health).status, 200)
        yield* assertKept(bought)
        yield* Purchase.audit(url)
        yield* Purchase.assertNextStone(url)
      },
    )
  }

  it("is resubmitted to a facilitator by one server at a time", function* ({ facilitator, rpc }) {
    const [one, other, third] = [yield* Settled.neighbour(), yield* Settled.neighbour(), yield* Settled.neighbour()]
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
    const { sweep } = yield* Settled.neighbour(1)
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
    yield* Settled.chargedAgain(bought)
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
    const { sweep } = yield* Settled.neighbour()
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
    assert.strictEqual(yield* Settled.at(Number(bought.purchase.validBefore) - 8, sweep), 1)
    assert.strictEqual(facilitator.asked(), asked, "it is about to end")
    yield* empty(bought.purchase.payer)
    yield* hasten
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(facilitator.asked(), asked, "its wallet is empty")
  })
})
