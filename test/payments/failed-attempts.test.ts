/** When an attempt fails, and what becomes of a payment that comes afterwards. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { facilitated, onServer, relayedBriefly } from "../lab/server/Live.ts"
import { eventually } from "../lab/Eventually.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { neighbours, proxiedServer } from "../lab/server/ProxiedServer.ts"
import { emptied, paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"
import * as Refunds from "../lab/buyer/Refunds.ts"
import { broadcast, spend } from "../lab/buyer/ThirdParty.ts"
import { ask, newCommitment, newKey, post } from "../lab/Fixture.ts"
import { stranger } from "../lab/Chain.ts"

/** A purchase whose transaction did not reach the node before its authorization expired; `before` was the chain's height. */
const unsent = Effect.gen(function* () {
  const { purchase, rpc, sql, url } = yield* signedFixture
  yield* Purchase.mine(3)
  const trap = rpc.arm("eth_sendRawTransaction", "dropBefore")
  Purchase.assertPending(purchase, yield* Purchase.send(purchase))
  yield* trap.arrived
  const before = yield* Purchase.height
  yield* Purchase.passExpiry
  yield* rpc.calm
  return { url, rpc, sql, purchase, before }
})

describe.concurrent("an attempt", () => {
  relayedBriefly("that fails after its server stopped behind a broadcast names that transaction", function* () {
    const { purchase, sql } = yield* unsent
    // The intent and the broadcast are on disk. The outcome of the submission was not stored.
    yield* sql`UPDATE payment_attempts SET payment = payment - 'transaction'`
    assert.strictEqual((yield* Purchase.secondInquiry(purchase)).status, 402)
    yield* Purchase.assertFailed(purchase, "authorization_expired")
    assert.match(Purchase.settlementIn(yield* Purchase.reconcile(purchase)).transaction, /^0x[0-9a-f]{64}$/u)
  })

  relayedBriefly("that was never paid fails once two inquiries a sweep apart agree, however many run", function* () {
    const { purchase, url } = yield* unsent
    const servers = [url, ...(yield* neighbours(2, "relayer"))]
    const many = Effect.forEach([...servers, ...servers], (server) => Purchase.reconcile({ ...purchase, server }), {
      concurrency: "unbounded",
    })
    for (const answer of yield* many) Purchase.assertPending(purchase, answer)
    yield* Purchase.afterNextSweep(purchase)
    assert.deepStrictEqual([...new Set((yield* many).map(({ status }) => status))], [402])
    yield* Purchase.assertFailed(purchase, "authorization_expired")
  })

  relayedBriefly("that was never paid does not fail when an inquiry between two verdicts found it open", function* () {
    const { before, purchase, rpc } = yield* unsent
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* Purchase.afterNextSweep(purchase)
    // A node that is behind: on it the authorization has not ended.
    rpc.behave(() => ({ head: before }))
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* rpc.calm
    yield* Purchase.failsNow(purchase, "authorization_expired")
  })

  relayedBriefly("that was never paid keeps the first verdict while the node is unreachable", function* () {
    const { purchase, rpc } = yield* unsent
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    rpc.arm("*", "status500")
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* rpc.calm
    yield* Purchase.afterNextSweep(purchase)
    assert.strictEqual((yield* Purchase.reconcile(purchase)).status, 402)
    yield* Purchase.assertFailed(purchase, "authorization_expired")
  })

  relayedBriefly("whose final transaction paid does not fail while one node counts it and another lags", function* () {
    const { purchase, rpc, sql } = yield* signedFixture
    yield* Purchase.mine(3)
    const before = yield* Purchase.height
    yield* Purchase.automine(false)
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* Purchase.broadcasts(1)
    yield* Purchase.mineAll
    yield* Purchase.mine(4)
    rpc.behave((method) => (method === "eth_getTransactionCount" ? {} : { head: before }))
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* sql`UPDATE payment_attempts SET doubted_at = doubted_at - interval '2 hours'`
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* rpc.calm
    yield* Purchase.settlesNow(purchase)
  })

  relayedBriefly("to pay with an earlier token, which no scan reads, fails once it has expired unused", function* () {
    const sql = yield* SqlClient.SqlClient
    const { purchase } = yield* unsent
    const earlier = "0x0000000000000000000000000000000000000e0e"
    yield* Purchase.onChain(async (client, { asset }) => {
      await client.setCode({ address: earlier, bytecode: (await client.getCode({ address: asset })) ?? "0x" })
    })
    yield* sql`
    UPDATE payment_attempts SET payment = jsonb_set(payment, '{authorization,asset}', to_jsonb(${earlier}::text))`
    assert.strictEqual((yield* Purchase.secondInquiry(purchase)).status, 402)
  })

  facilitated("whose transaction a facilitator reported does not fail by nine sweeps that see it unpaid", function* () {
    const { facilitator, purchase, sql } = yield* signedFixture
    facilitator.arm("imagineBefore")
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    yield* facilitator.calm
    yield* Purchase.passExpiry
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* sql`UPDATE payment_attempts SET doubted_at = doubted_at - interval '9 hours'`
    Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
    yield* Purchase.afterNextSweep(purchase)
    assert.strictEqual((yield* Purchase.reconcile(purchase)).status, 402)
    yield* Purchase.assertFailed(purchase, "authorization_expired")
  })
})

type Use = (purchase: Parameters<typeof spend>[0]) => ReturnType<typeof spend>

const uses: Readonly<Record<string, Use>> = {
  "to send us nothing": (purchase) => spend(purchase, { value: 0n }),
  "to send another wallet nothing": (purchase) => spend(purchase, { value: 0n, to: stranger }),
  "to send its own wallet nothing": (purchase) => spend(purchase, { value: 0n, to: purchase.payer.address }),
  "to send its own wallet the price": (purchase) => spend(purchase, { to: purchase.payer.address }),
  "to send another wallet the price": (purchase) => spend(purchase, { to: stranger }),
  "to send us another amount": (purchase) => spend(purchase, { value: 7n }),
}

describe.concurrent("an attempt that holds a keeper's record", () => {
  it.live.each(Object.entries(uses))("fails and frees it once its nonce was used in a final block %s", ([, use]) =>
    Effect.gen(function* () {
      const { facilitator, sql } = yield* paymentFixture
      const keeper = "/api/acquire/moss-hare"
      facilitator.arm("nonsenseBefore")
      const purchase = yield* Purchase.prepare({ path: keeper })
      Purchase.assertPending(purchase, yield* Purchase.send(purchase))
      yield* facilitator.calm
      yield* use(purchase)
      Purchase.assertPending(purchase, yield* Purchase.reconcile(purchase))
      const doubts = yield* sql`SELECT 1 FROM payment_attempts WHERE doubted_at IS NOT NULL`
      assert.isEmpty(doubts, "its block may be replaced")
      yield* Purchase.mine(4)
      const ended = yield* Purchase.storedAnswer(purchase)
      assert.deepStrictEqual(Purchase.reasonIn(ended), [402, "payment_failed", "authorization_spent_elsewhere"])
      yield* Purchase.buy(keeper)
    }).pipe(Effect.provide(proxiedServer("facilitator", "1 second", "300 millis"))),
  )
})

describe.concurrent("a payment in flight", () => {
  facilitated("says until when at the latest it holds a keeper's record, a prayer or the last edition", function* () {
    const { facilitator, sql, url } = yield* paymentFixture
    facilitator.arm("nonsenseBefore")
    yield* sql`INSERT INTO payment_pools (name, drawn, highest) VALUES ('edition:beeswax', 255, 255)`
    const prayer = { agentName: "Wren", intentionCommitment: newCommitment() }
    for (const [path, body, code] of [
      ["acquire/moss-hare", {}, "keeper_slot_taken"],
      ["prayers/moss-hare", prayer, "prayer_slot_taken"],
      ["elements/beeswax/collect", {}, "sold_out"],
    ] as const) {
      const purchase = yield* Purchase.prepare({ path: `/api/${path}`, body })
      Purchase.assertPending(purchase, yield* Purchase.send(purchase))
      const other = yield* ask(`${url}/api/${path}`, post(body, { "idempotency-key": newKey() }))
      assert.deepStrictEqual([other.status, other.json["code"]], [409, code])
      // Blocks of that time are final by half an hour later.
      const latest = (Number(purchase.validBefore) + 1800) * 1000
      assert.strictEqual(other.json["heldUntil"], new Date(latest).toISOString())
    }
    const { altars } = Object((yield* ask(`${url}/api/altars`)).json)
    assert.deepInclude(altars[0].today, { state: "held", prayer: null })
    yield* sql`UPDATE payment_attempts SET state = 'failed', reason = 'a test'`
    const issued = yield* ask(`${url}/api/elements/beeswax/collect`, post({}, { "idempotency-key": newKey() }))
    assert.strictEqual(issued.json["code"], "sold_out")
    assert.notProperty(issued.json, "heldUntil", "no payment in flight holds an edition")
  })
})

const server = proxiedServer("relayer", "20 seconds", "300 millis")
const test = onServer(server)

const fund = ({ payer }: Purchase.Purchase) =>
  Effect.flatMap(LocalChain, (chain) => chain.fund(payer.address, 10n * Purchase.price))

const unmatched = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ transaction: string }>`SELECT transaction FROM unmatched_payments`,
).pipe(Effect.orDie)

const failed = Effect.gen(function* () {
  const purchase = yield* emptied
  yield* Purchase.mine(3)
  assert.deepStrictEqual(Purchase.reasonIn(yield* Purchase.storedAnswer(purchase)), [
    402,
    "payment_failed",
    "wallet_could_not_pay",
  ])
  return purchase
})

describe.concurrent("a late payment for a failed attempt", () => {
  // A wallet was briefly short, and a stranger has the authorization from public call data.
  test("is bound to it when a stranger broadcasts and presents it, and its buyer learns until when it could be used", function* () {
    const purchase = yield* failed
    const told = yield* Purchase.reconcile(purchase)
    const [recorded = assert.fail()] = yield* (yield* SqlClient.SqlClient)<{
      hash: string
    }>`SELECT hash FROM relayer_broadcasts`
    for (const answer of [told, yield* Purchase.send(purchase)])
      assert.deepInclude(Purchase.settlementIn(answer), { success: false, transaction: recorded.hash })
    const until = new Date(Number(purchase.validBefore) * 1000).toISOString()
    assert.strictEqual(told.json["authorizationOpenUntil"], until)
    assert.include(String(told.json["message"]), `It was not charged so far.`)
    assert.notMatch(String(told.json["message"]), /charged nothing|nothing was charged/iu)
    yield* fund(purchase)
    yield* broadcast(purchase)
    const headers = { ...purchase.headers, "idempotency-key": newKey() }
    const stolen = yield* Purchase.send({ ...purchase, headers, body: { commitment: newCommitment() } })
    assert.deepStrictEqual(Purchase.reasonIn(stolen).slice(0, 2), [409, "payment_authorization_already_bound"])
    assert.deepInclude(yield* Purchase.books(purchase), { charged: 1, acts: 0, stones: 0, claims: 1 })
  })

  test("is recorded once it is final, told to its buyer, buys nothing under a new key, and is refunded", function* () {
    const sql = yield* SqlClient.SqlClient
    const purchase = yield* failed
    yield* fund(purchase)
    const transaction = yield* broadcast(purchase)
    yield* Purchase.mine(1)
    assert.deepStrictEqual(yield* unmatched, [], "its block may be orphaned, and the payment with it")
    yield* eventually("told", Purchase.reconcile(purchase), ({ json }) =>
      String(json["message"]).includes(`transaction ${transaction} paid us and is to be recorded`),
    )
    assert.deepStrictEqual(yield* unmatched, [])
    yield* Purchase.mine(4)
    yield* eventually("noted", unmatched, (rows) => rows.length > 0)
    assert.deepStrictEqual(yield* unmatched, [{ transaction }])
    const told = yield* Purchase.reconcile(purchase)
    assert.strictEqual(told.status, 402)
    assert.include(String(told.json["message"]), `transaction ${transaction} paid us and is recorded for the operator`)

    // It buys nothing. It is the unmatched payment of this attempt.
    const key = newKey()
    const again = { ...purchase, key, headers: { ...purchase.headers, "idempotency-key": key } }
    assert.deepStrictEqual(Purchase.reasonIn(yield* Purchase.send(again)).slice(0, 2), [
      409,
      "payment_authorization_already_bound",
    ])
    const { id } = (yield* sql<{ id: string }>`SELECT id FROM payment_attempts`)[0] ?? assert.fail()
    const [listed] = JSON.parse((yield* Refunds.attempts).stdout).unmatched
    assert.deepInclude(listed, { attempt: id, transaction })
    const back = yield* Refunds.repay(purchase.payer.address)
    yield* Purchase.mine(3)
    const refunded = yield* Refunds.refunded(id, back)
    assert.strictEqual(refunded.code, 0, refunded.stderr)
    assert.include(String((yield* Purchase.reconcile(purchase)).json["message"]), `in transaction ${back}`)
    assert.strictEqual(JSON.parse((yield* Refunds.attempts).stdout).unmatched.length, 0)
  })
})
