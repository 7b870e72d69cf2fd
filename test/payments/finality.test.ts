/** The fate of a settled transfer: still there once its block is final, found elsewhere, resubmitted once, or gone for good and said so. */
import { SqlClient } from "effect/sql"
import { Effect, Redacted } from "effect"
import { assert, describe, it } from "../lab/It.ts"
import type { Hex } from "viem"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { onServer, relayedInFiveSeconds } from "../lab/server/Live.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { ask, becomes, read, TestServer } from "../lab/Fixture.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { until } from "../lab/Eventually.ts"
import { Due } from "../../src/payments/store/Due.ts"
import { paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"

const facilitatedAndSwept = onServer(proxiedServer("facilitator", "5 seconds", "200 millis"))

interface Receipt {
  readonly transaction: Hex
  readonly finality?: string
  readonly currentTransaction?: Hex
}

type Bought = Effect.Success<typeof buy>

const buy = Effect.gen(function* () {
  const { purchase } = yield* signedFixture
  const answer = yield* Purchase.send(purchase)
  assert.strictEqual(answer.status, 201, answer.text)
  const { receipt, record }: { receipt: Receipt; record: { id: string; chainHash: string } } = JSON.parse(answer.text)
  assert.notProperty(receipt, "finality", "the first answer does not say it: its replays are the same bytes")
  return { purchase, text: answer.text, id: record.id, receipt, chainHash: record.chainHash }
})

const readAct = ({ id }: Bought) =>
  Effect.flatMap(TestServer, ({ url }) => ask(`${url}/api/acts/${id}`)).pipe(
    Effect.map(({ text }): Receipt => JSON.parse(text).act.receipt),
  )

/** Waits until a read says so, doing something before each; returns the receipt it shows. */
const shows = (
  bought: Bought,
  finality: string,
  before: Effect.Effect<unknown, unknown, SqlClient.SqlClient> = Effect.void,
) =>
  Effect.andThen(before, readAct(bought)).pipe(
    until(`never became ${finality}`, (receipt) => receipt.finality === finality),
  )

/** `admin` with these words. */
const admin = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { url } = yield* LocalDatabase
  return yield* commandRun(["admin", ...args], { DATABASE_URL: Redacted.value(url) })
})

/** For every fate of the block: the same answer, the same record, the same link. */
const assertKept = Effect.fnUntraced(function* ({ chainHash, id, purchase, text }: Bought) {
  const { url } = yield* TestServer
  const again = yield* Purchase.send(purchase)
  assert.deepStrictEqual([again.status, again.text], [200, text.replace(/false\}$/u, "true}")])
  assert.strictEqual((yield* Purchase.reconcile(purchase)).text, again.text)
  const { stone } = JSON.parse((yield* ask(`${url}/api/witness/${id}`)).text)
  assert.strictEqual(stone.chainHash, chainHash)
  const { entries } = JSON.parse((yield* ask(`${url}/api/witness/chain`)).text)
  assert.include(
    entries.map((entry: { readonly chainHash: string }) => entry.chainHash),
    chainHash,
  )
})

/** Waits until the sweeper has looked so often and could not tell. */
const looked = Effect.fnUntraced(function* (times: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql<{ readonly checks: number }>`SELECT checks FROM payment_attempts`.pipe(
    until("the sweeper never looked", ([row]) => (row?.checks ?? 0) >= times),
  )
})

/** Makes the next inquiry due, which one without a finding postpones. */
const hasten = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET next_check_at = now() - interval '1 second'`,
)

/** Replaces the newest block by an empty one. Its fees differ, so the resent transfer is another transaction. */
const replaced = Effect.andThen(Purchase.reorganise(1), Purchase.mine(1))

/** Repeats inquiries until the payer is charged on the current chain. */
const chargedAgain = ({ purchase }: Bought) =>
  Effect.andThen(hasten, Purchase.charges(purchase)).pipe(
    until("it was never charged again", ({ charged }) => charged === 1),
  )

const healthy = Effect.flatMap(TestServer, ({ url }) => becomes(`${url}/api/health`, 200))

const sweeper = proxiedServer("relayer", "5 seconds", "200 millis")
const swept = onServer(sweeper)

describe.concurrent("a settled transfer", () => {
  relayedInFiveSeconds("is inquired about once the scan of its network reads another token", function* () {
    yield* buy
    const sql = yield* SqlClient.SqlClient
    const hash = `0x${"0".repeat(64)}`
    yield* sql`
      INSERT INTO chain_scans (network, asset, recipients, final_block, final_hash, final_time, head_block, head_hash)
      SELECT payment ->> 'network', 'another token', '[]', 1000000, ${hash}, 0, 1000000, ${hash} FROM payment_attempts`
    const { leaseUnexplained } = yield* Due.make
    assert.strictEqual((yield* leaseUnexplained(1, 0)).taken, 1)
  })

  swept("is pending until its block is final, and final from then on, in every read", function* () {
    const { url } = yield* TestServer
    const bought = yield* buy
    assert.strictEqual((yield* readAct(bought)).finality, "pending")
    yield* Purchase.mine(2)
    const receipt = yield* shows(bought, "final")
    assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final" })
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT nonce FROM relayer_broadcasts WHERE raw IS NOT NULL`.pipe(
      until("the bytes of its transaction are kept", (rows) => rows.length === 0),
    )
    const newest = yield* read("/api/acts?limit=1")
    assert.deepStrictEqual(newest.acts[0].receipt, receipt)
    assert.deepStrictEqual((yield* read(`/api/witness/${bought.id}`)).receipt, receipt)
    const page = yield* ask(`${url}/acts/${bought.id}`, { headers: { accept: "text/html" } })
    assert.match(page.text, /<dt>Finality<\/dt>\s*<dd>Final<\/dd>/u)
    yield* assertKept(bought)
  })

  swept("that a reorganisation moved to another transaction settles there", function* () {
    const { url } = yield* TestServer
    const bought = yield* buy
    yield* Purchase.reorganise(1)
    const elsewhere = yield* broadcast(bought.purchase)
    assert.notStrictEqual(elsewhere, bought.receipt.transaction)
    yield* Purchase.mine(2)
    const receipt = yield* shows(bought, "final")
    assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final", currentTransaction: elsewhere })
    for (const transaction of [elsewhere, bought.receipt.transaction]) {
      const page = yield* ask(`${url}/v2/acts?q=${transaction}`)
      assert.include(page.text, `/witness/${bought.id}`, "it is found by both transactions")
    }
    yield* healthy
    yield* assertKept(bought)
    yield* Purchase.audit(url)
  })

  facilitatedAndSwept("that is lost is marked, keeps its row, and fails the health until acknowledged", function* () {
    const { facilitator } = yield* paymentFixture
    const bought = yield* buy
    yield* Purchase.reorganise(1)
    yield* Purchase.mine(4)
    // It could still be brought back: nothing is lost before its authorization has ended.
    yield* looked(2)
    assert.strictEqual(facilitator.requests(), 1, "a facilitator brings back what it has sent")
    assert.strictEqual((yield* readAct(bought)).finality, "pending")
    yield* healthy
    const acknowledge = admin("acknowledge", bought.id, "--why", "the payer was told", "--by", "Ada")
    const early = yield* acknowledge
    assert.deepStrictEqual([early.code, early.stdout], [1, ""])
    assert.match(early.stderr, /has no lost payment that is to be acknowledged\. Nothing changed\.\n$/u)
    yield* Purchase.passExpiry
    assert.deepStrictEqual(yield* shows(bought, "lost", hasten), { ...bought.receipt, finality: "lost" })
    const { url } = yield* TestServer
    const failing = yield* becomes(`${url}/api/health`, 503).pipe(
      until("a part stays late", ({ text }) => !/"unknown"|"pending":null/u.test(text)),
    )
    // Sales go on.
    yield* becomes(`${url}/readyz`, 200)
    assert.deepInclude(failing.json, { ok: false })
    assert.deepStrictEqual(failing.json["payments"], {
      enabled: true,
      state: "failing",
      pausedSince: null,
      pending: 0,
      settlement: "ok",
      gasLost: { state: "ok", lastHourEther: "0.000000000" },
      obstacle: null,
    })
    assert.deepInclude(yield* Purchase.attemptOf(bought.purchase), { state: "settled", acts: 1, stones: 1 })
    yield* assertKept(bought)
    assert.include((yield* admin("attempts")).stdout, `spirit-altar admin acknowledge ${bought.id} --why TEXT`)
    const codes = yield* Effect.all([acknowledge, acknowledge], { concurrency: "unbounded" })
    assert.deepStrictEqual(codes.map(({ code }) => code).sort(), [0, 1], "the second finds nothing to acknowledge")
    assert.deepInclude((yield* healthy).json, { ok: true })
    assert.strictEqual((yield* admin("attempts")).stdout, "Every attempt has ended.\n")
    const { deeds } = JSON.parse((yield* admin("audit", "--json")).stdout)
    assert.lengthOf(deeds, 1)
    assert.deepInclude(deeds[0], { what: "acknowledge", subject: bought.id, why: "the payer was told" })
    assert.strictEqual((yield* readAct(bought)).finality, "lost")
  })
})

describe.concurrent("a settled transfer whose block was orphaned", () => {
  swept("is resubmitted by the relayer before the old block is final, while it can be paid", function* () {
    const { url } = yield* TestServer
    const bought = yield* buy
    yield* replaced
    yield* Purchase.mine(1)
    assert.strictEqual((yield* Purchase.charges(bought.purchase)).charged, 0)
    const { transaction } = yield* chargedAgain(bought)
    assert.strictEqual((yield* readAct(bought)).finality, "pending")
    yield* Purchase.mine(3)
    const receipt = yield* shows(bought, "final")
    assert.strictEqual(transaction, bought.receipt.transaction, "the same transaction is sent again")
    assert.deepStrictEqual(receipt, { ...bought.receipt, finality: "final" })
    yield* healthy
    yield* assertKept(bought)
    yield* Purchase.audit(url)
  })
})

describe.concurrent("the scan of a server", () => {
  it.live("is due again after four sweeps", () =>
    Effect.gen(function* () {
      const { sql } = yield* paymentFixture
      // The scan starts at a chain's second block.
      yield* Purchase.mine(2)
      const scans = yield* sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM chain_scans`.pipe(
        until("is due sooner", ([scan]) => (scan?.seconds ?? 0) > 3),
      )
      assert.isAtMost(scans[0]?.seconds ?? 5, 4)
    }).pipe(Effect.provide(proxiedServer("relayer", "1 second", "1 second"))),
  )
})
