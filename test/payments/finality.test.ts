/** What became of a settled transfer once its block is final: still there, found elsewhere, or gone for good and said so. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Fiber, Layer, Logger, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import { Chain } from "../../src/payments/x402/node/Chain.ts"
import * as Facilitator from "../../src/payments/x402/settlement/Facilitator.ts"
import { Finality } from "../../src/payments/Finality.ts"
import { Settlement } from "../../src/payments/Settlement.ts"
import { SettledTransfers } from "../../src/payments/ledger/SettledTransfers.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { patience } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer, Proxies } from "../lab/server/ProxiedServer.ts"
import { ask, paymentsOf, World } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { broadcast, empty } from "../lab/buyer/ThirdParty.ts"
import { heldClock } from "../lab/Clock.ts"
import { buying, scene } from "../lab/buyer/Scene.ts"

interface Receipt {
  readonly transaction: Hex
  readonly finality?: string
  readonly currentTransaction?: Hex
}

interface Bought {
  readonly purchase: Purchase.Purchase
  readonly text: string
  readonly id: string
  readonly receipt: Receipt
  readonly chainHash: string
}

const buy = Effect.gen(function* () {
  const { purchase, url } = yield* buying
  const answer = yield* Purchase.send(url, purchase)
  assert.strictEqual(answer.status, 201, answer.text)
  const { receipt, record } = JSON.parse(answer.text)
  assert.notProperty(receipt, "finality", "the first answer does not say it: its replays are the same bytes")
  const bought: Bought = { purchase, text: answer.text, id: record.id, receipt, chainHash: record.chainHash }
  return bought
})

/** The transaction that paid it, as it was sent. */
const rawOf = ({ receipt }: Bought) =>
  Purchase.onChain(async ({ request }) => {
    const question = { method: "eth_getRawTransactionByHash" as never, params: [receipt.transaction] as never }
    return (await request(question)) as unknown as Hex
  })

const sweeper = proxiedServer("relayer", "5 seconds", "200 millis")

const sweeperOfFacilitator = proxiedServer("facilitator", "5 seconds", "200 millis")

/** A database whose clock is that of the test. */
const sharedClock = Layer.succeed(DatabaseClock, {
  now: Effect.map(Clock.currentTimeMillis, (millis) => ({ millis, aheadMillis: 0 })),
})

/** Another server, whose facilitator may take so many seconds; it looks when it is told to. */
const neighbour = Effect.fnUntraced(function* (wait = 20) {
  const { terms } = paymentsOf(yield* LocalChain)
  const { facilitator, rpc } = yield* Proxies
  const timeout = Duration.millis(patience(wait))
  const server = Finality.layer({ sweepEvery: Duration.hours(1), patience: timeout }).pipe(
    Layer.provide(Facilitator.layer({ url: facilitator.url, key: Option.none(), terms, timeout })),
    Layer.provide(
      Chain.layer({ rpcUrl: Redacted.make(rpc.url), finalTag: "finalized", timeout: Duration.seconds(10) }),
    ),
    Layer.provide([SettledTransfers.layer, sharedClock]),
  )
  return Context.get(yield* Layer.build(Layer.fresh(server)), Finality)
})

/** At this moment, whatever the time is. */
const at = Effect.fnUntraced(function* <A>(unixSeconds: number, effect: Effect.Effect<A>) {
  const { clock, put } = yield* heldClock
  put(unixSeconds * 1000)
  return yield* Effect.provideService(effect, Clock.Clock, clock)
})

/** Nobody who would hand anything in again. */
const nobody = Layer.mock(Settlement, { resubmit: () => Effect.succeedNone })

const readAct = ({ id }: Bought) =>
  Effect.flatMap(World, ({ url }) => ask(`${url}/api/acts/${id}`)).pipe(
    Effect.map(({ text }): Receipt => JSON.parse(text).act.receipt),
  )

/** Waits until a read says so, doing something before each; returns the receipt it shows. */
const becomes = (
  bought: Bought,
  finality: string,
  before: Effect.Effect<unknown, unknown, SqlClient.SqlClient> = Effect.void,
) =>
  Effect.andThen(before, readAct(bought)).pipe(
    until(`never became ${finality}`, (receipt) => receipt.finality === finality),
  )

/** Whatever became of the block: the same answer, the same record, the same link. */
const assertKept = Effect.fnUntraced(function* ({ chainHash, id, purchase, text }: Bought) {
  const { url } = yield* World
  const again = yield* Purchase.send(url, purchase)
  assert.deepStrictEqual([again.status, again.text], [200, text.replace(/false\}$/u, "true}")])
  assert.strictEqual((yield* Purchase.reconcile(url, purchase)).text, again.text)
  const { stone } = JSON.parse((yield* ask(`${url}/api/witness/${id}`)).text)
  assert.strictEqual(stone.chainHash, chainHash)
  const { entries } = JSON.parse((yield* ask(`${url}/api/witness/chain`)).text)
  assert.include(
    entries.map((entry: { readonly chainHash: string }) => entry.chainHash),
    chainHash,
  )
})

/** As a final block, one that no transfer is above. */
const everyBlock = 10n ** 9n

/** Waits until the sweeper has looked so often and could not tell. */
const looked = Effect.fnUntraced(function* (times: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql<{ readonly checks: number }>`SELECT checks FROM payment_attempts`.pipe(
    until("the sweeper never looked", ([row]) => (row?.checks ?? 0) >= times),
  )
})

/** Waits until a look has found the transfer in a block above this one; what that look said of it. */
const foundAbove = Effect.fnUntraced(function* (block: bigint) {
  const sql = yield* SqlClient.SqlClient
  yield* hasten
  const [row] = yield* sql<{ readonly finality: string; readonly settledBlock: bigint }>`
    SELECT finality, settled_block FROM payment_attempts`.pipe(
    until("it was never found again", ([row]) => (row?.settledBlock ?? 0n) > block),
  )
  return row?.finality
})

/** The next look takes its time after one that could not tell; the column rounds to milliseconds, which is not to be later. */
const hasten = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET next_check_at = now() - interval '1 second'`,
)

/** An empty block stands where the newest one was, so that fees are others: the same transaction is not signed again. */
const replaced = Effect.andThen(Purchase.takeBack(1), Purchase.mine(1))

/** What settled is looked at after ten seconds, though its block is not final. */
const settledLongAgo = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET ended_at = ended_at - interval '20 seconds'`,
)

/** Waits, with one look after the other, until the payer is charged on the chain as it is now. */
const chargedAgain = ({ purchase }: Bought) =>
  Effect.andThen(hasten, Purchase.charges(purchase)).pipe(
    until("it was never charged again", ({ charged }) => charged === 1),
  )

const health = Effect.flatMap(World, ({ url }) => ask(`${url}/api/health`))

describe("a settled transfer", { concurrent: true }, () => {
  // I14
  it.live("is pending until its block is final, and final from then on, in every read", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const bought = yield* buy
      assert.strictEqual((yield* readAct(bought)).finality, "pending")
      yield* Purchase.mine(2)
      const receipt = yield* becomes(bought, "final")
      assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final" })
      const newest = JSON.parse((yield* ask(`${url}/api/acts?limit=1`)).text)
      assert.deepStrictEqual(newest.acts[0].receipt, receipt)
      assert.deepStrictEqual(JSON.parse((yield* ask(`${url}/api/witness/${bought.id}`)).text).receipt, receipt)
      const page = yield* ask(`${url}/acts/${bought.id}`, { headers: { accept: "text/html" } })
      assert.match(page.text, /<dt>Finality<\/dt>\s*<dd>Final<\/dd>/u)
      yield* assertKept(bought)
    }).pipe(Effect.provide(sweeper)),
  )

  it.live("that a reorganisation put into another transaction is settled there", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const bought = yield* buy
      yield* Purchase.takeBack(1)
      const elsewhere = yield* broadcast(bought.purchase)
      assert.notStrictEqual(elsewhere, bought.receipt.transaction)
      yield* Purchase.mine(2)
      const receipt = yield* becomes(bought, "final")
      assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final", currentTransaction: elsewhere })
      for (const transaction of [elsewhere, bought.receipt.transaction]) {
        const page = yield* ask(`${url}/v2/witness?q=${transaction}`)
        assert.include(page.text, `/witness/${bought.id}`, "it is found by both transactions")
      }
      assert.strictEqual((yield* health).status, 200)
      yield* assertKept(bought)
      yield* Purchase.audit(url)
    }).pipe(Effect.provide(sweeper)),
  )

  // I14
  it.live("that a reorganisation put into a later block is final there, and not before", () =>
    Effect.gen(function* () {
      const bought = yield* buy
      const raw = yield* rawOf(bought)
      const block = yield* Purchase.height
      yield* Purchase.takeBack(1)
      yield* Purchase.mine(2)
      yield* Purchase.onChain((client) => client.sendRawTransaction({ serializedTransaction: raw }))
      assert.strictEqual(yield* foundAbove(block), "pending")
      assert.strictEqual((yield* readAct(bought)).finality, "pending")
      yield* Purchase.mine(2)
      yield* hasten
      assert.deepStrictEqual(yield* becomes(bought, "final"), { ...bought.receipt, finality: "final" })
      yield* assertKept(bought)
    }).pipe(Effect.provide(sweeper)),
  )

  it.live(
    "that is gone for good is marked lost, its row stays, and the health fails until an operator acknowledges it",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { facilitator } = yield* Proxies
        const bought = yield* buy
        const refusal = facilitator.arm("refuseBefore")
        yield* Purchase.takeBack(1)
        yield* Purchase.mine(4)
        // It could still be brought back: nothing is lost before its authorization has ended.
        yield* refusal.arrived
        yield* looked(2)
        assert.strictEqual((yield* readAct(bought)).finality, "pending")
        assert.strictEqual((yield* health).status, 200)
        yield* Purchase.outlive
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
      }).pipe(Effect.provide(sweeperOfFacilitator)),
  )

  it.live.each(["relayer", "facilitator"] as const)(
    "that is taken back is brought to the chain again before its block is final, while it can be paid: by the %s",
    (settledBy) =>
      Effect.gen(function* () {
        const { url } = yield* World
        const bought = yield* buy
        yield* replaced
        assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 0)
        yield* settledLongAgo
        const { transaction = "0x" } = yield* chargedAgain(bought)
        assert.strictEqual((yield* readAct(bought)).finality, "pending")
        yield* Purchase.mine(2)
        const receipt = yield* becomes(bought, "final", hasten)
        assert.notStrictEqual(transaction, bought.receipt.transaction)
        assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final", currentTransaction: transaction })
        assert.strictEqual((yield* health).status, 200)
        yield* assertKept(bought)
        yield* Purchase.audit(url)
        yield* Purchase.assertNextStone(url)
      }).pipe(Effect.provide(proxiedServer(settledBy, "1 second", "200 millis"))),
  )

  it.live("that is taken back is handed to a facilitator by one server at a time", () =>
    Effect.gen(function* () {
      const { facilitator, rpc } = yield* Proxies
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
      const looking = (so: number) => Effect.sync(() => looks).pipe(until("nobody looks", (now) => now >= so))
      yield* hasten
      const first = yield* Effect.forkChild(one.sweep)
      yield* looking(1)
      // It is slow to look: what it has taken falls due again.
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
    }).pipe(Effect.provide(proxiedServer("facilitator", "5 seconds"))),
  )

  it.live("that is taken back is charged once by a facilitator that lies, sends nothing, or sends too late", () =>
    Effect.gen(function* () {
      const { facilitator, url } = yield* scene
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
    }).pipe(Effect.provide(proxiedServer("facilitator", "5 seconds"))),
  )

  it.live(
    "that is taken back is not handed to a facilitator while it is on its way, about to end, or its wallet empty",
    () =>
      Effect.gen(function* () {
        const { facilitator } = yield* Proxies
        const { sweep } = yield* neighbour()
        const bought = yield* buy
        const raw = yield* rawOf(bought)
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
      }).pipe(Effect.provide(proxiedServer("facilitator", "5 seconds"))),
  )

  // I15
  it.live("that is gone for good is not lost before two looks agree that are a sweep apart", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* LocalChain
      const bought = yield* buy
      yield* Purchase.takeBack(1)
      yield* Purchase.outlive
      const patient = yield* Layer.build(
        Finality.layer({ sweepEvery: Duration.minutes(30), patience: Duration.seconds(10) }).pipe(
          Layer.provide(
            Chain.layer({ rpcUrl: Redacted.make(rpcUrl), finalTag: "finalized", timeout: Duration.seconds(10) }),
          ),
          Layer.provide([SettledTransfers.layer, nobody]),
        ),
      )
      const look = Effect.andThen(hasten, Context.get(patient, Finality).sweep)
      for (const _ of [1, 2, 3]) yield* look
      yield* Purchase.doubted(bought.purchase)
      assert.strictEqual((yield* readAct(bought)).finality, "pending")
      yield* Purchase.aSweepLater(bought.purchase)
      yield* look
      assert.strictEqual((yield* readAct(bought)).finality, "lost")
    }).pipe(Effect.provide(proxiedServer("relayer", "5 seconds"))),
  )

  it.live("that is gone for good is logged as one error, however many servers sweep", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* LocalChain
      const bought = yield* buy
      yield* Purchase.takeBack(1)
      yield* Purchase.outlive
      const alarms: Array<string> = []
      const ears = Logger.make<unknown, void>(({ logLevel, message }) => {
        if (logLevel === "Error") alarms.push(String(message))
      })
      const server = Finality.layer({ sweepEvery: Duration.millis(200), patience: Duration.seconds(10) }).pipe(
        Layer.provide(
          Chain.layer({ rpcUrl: Redacted.make(rpcUrl), finalTag: "finalized", timeout: Duration.seconds(10) }),
        ),
        Layer.provide([SettledTransfers.layer, nobody]),
        Layer.provide(Logger.layer([ears])),
      )
      // The server of this test sweeps at its start only; these are its neighbours.
      for (const _ of [1, 2, 3, 4]) yield* Layer.build(Layer.fresh(server))
      yield* becomes(bought, "lost")
      yield* Effect.sync(() => alarms.length).pipe(until("no alarm", (rung) => rung > 0))
      assert.deepStrictEqual(
        alarms.map((alarm) => alarm.includes(bought.id) && alarm.includes(bought.receipt.transaction)),
        [true],
        alarms.join(),
      )
    }).pipe(Effect.provide(proxiedServer("relayer", "5 seconds"))),
  )

  it.live("that cannot be looked at is put off for longer each time, and its doubt stays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { rpc } = yield* Proxies
      yield* buy
      yield* sql`UPDATE payment_attempts SET doubted_reason = 'authorization_expired', doubted_at = now()`
      const before = yield* sql`SELECT doubted_at, doubted_reason FROM payment_attempts`
      rpc.arm("eth_getTransactionReceipt", "refusal")
      yield* Purchase.mine(2)
      for (const [index, seconds] of [2, 4, 8].entries()) {
        const [asked] = yield* sql<{ readonly at: Date }>`SELECT now() AS at`
        yield* hasten
        yield* looked(index + 1)
        const [found] = yield* sql<{ readonly at: Date; readonly next: Date }>`
          SELECT now()::timestamptz(3) AS at, next_check_at AS next FROM payment_attempts`
        const [early, late, next] = [asked?.at, found?.at, found?.next].map((at) => Number(at) / 1000)
        // The look was between the two questions, however long they took.
        assert.isAtLeast(Number(next) - Number(early), seconds - 0.01)
        assert.isAtMost(Number(next) - Number(late), seconds)
      }
      assert.deepStrictEqual(yield* sql`SELECT doubted_at, doubted_reason FROM payment_attempts`, before)
    }).pipe(Effect.provide(sweeper)),
  )

  it.live("that cannot be looked at before its block is final is looked at again within a minute", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { rpc } = yield* Proxies
      const { sweep } = yield* neighbour()
      yield* buy
      yield* settledLongAgo
      yield* sql`UPDATE payment_attempts SET checks = 11`
      rpc.arm("eth_getTransactionReceipt", "refusal")
      yield* hasten
      assert.strictEqual(yield* sweep, 1)
      assert.deepStrictEqual(
        yield* sql`SELECT checks, next_check_at <= now() + interval '1 minute' AS soon FROM payment_attempts`,
        [{ checks: 12, soon: true }],
      )
    }).pipe(Effect.provide(proxiedServer("facilitator", "5 seconds"))),
  )

  it.live("is kept and put off by the database's clock, however wrong a server's is", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transfers = Context.get(yield* Layer.build(SettledTransfers.layer), SettledTransfers)
      yield* buy
      yield* settledLongAgo
      const waits = sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM next_check_at - now())::float8 AS seconds FROM payment_attempts`.pipe(
        Effect.map(([row]) => row?.seconds ?? 0),
      )
      const assertWaits = Effect.fnUntraced(function* (seconds: number) {
        const left = yield* waits
        assert.isAtMost(left, seconds + 0.001)
        assert.isAbove(left, seconds - patience(10) / 1000)
      })
      for (const skew of [-600, 600]) {
        const here = <A>(effect: Effect.Effect<A>) => at(Date.now() / 1000 + skew, effect)
        yield* hasten
        assert.isTrue(yield* here(transfers.isAnyDue))
        const [taken] = (yield* here(transfers.lease(1, everyBlock, 300_000))).transfers
        assert.isDefined(taken)
        if (taken === undefined) return
        yield* assertWaits(300)
        assert.isFalse(yield* here(transfers.isAnyDue))
        const held = yield* here(transfers.hold(taken, 60_000))
        yield* assertWaits(60)
        yield* here(
          transfers.defer(
            Option.getOrElse(held, () => taken),
            null,
            30_000,
          ),
        )
        yield* assertWaits(30)
        // It lives for some minutes, and its block is not final.
        yield* hasten
        assert.strictEqual((yield* here(transfers.lease(1, 0n, 300_000))).taken, 1)
      }
    }).pipe(Effect.provide(proxiedServer("relayer", "5 seconds"))),
  )

  it.live("that is about to end is not kept until it has ended by a server that may be gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transfers = Context.get(yield* Layer.build(SettledTransfers.layer), SettledTransfers)
      yield* buy
      yield* hasten
      const [taken] = (yield* transfers.lease(1, everyBlock, 60_000)).transfers
      assert.isDefined(taken)
      if (taken === undefined) return
      yield* sql`UPDATE payment_attempts SET valid_before = extract(epoch FROM now())::bigint + 300`
      assert.isTrue(Option.isSome(yield* transfers.hold(taken, 3_600_000)))
      const [row] = yield* sql<{ readonly left: number }>`
        SELECT (valid_before - extract(epoch FROM next_check_at))::float8 AS left FROM payment_attempts`
      assert.closeTo(row?.left ?? 0, 20, 0.01)
    }).pipe(Effect.provide(proxiedServer("relayer", "5 seconds"))),
  )

  it.live("that has been found is not doubted by a look that began before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transfers = Context.get(yield* Layer.build(SettledTransfers.layer), SettledTransfers)
      yield* buy
      yield* hasten
      const [slow] = (yield* transfers.lease(1, everyBlock, 60_000)).transfers
      assert.isDefined(slow)
      if (slow === undefined) return
      yield* transfers.confirm(slow.id, "pending", 1n, Option.none())
      yield* transfers.defer(slow, "authorization_expired", 1_000)
      assert.deepStrictEqual(yield* sql`SELECT doubted_reason FROM payment_attempts`, [{ doubtedReason: null }])
    }).pipe(Effect.provide(proxiedServer("relayer", "5 seconds"))),
  )
})
