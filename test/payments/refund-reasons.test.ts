/** Payments of every reason for a refund, as the operator, the buyer and the public meet them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { refundNonce } from "../../src/payments/refunds/RefundTransfer.ts"
import { carded, prepare, send } from "../lab/buyer/Cards.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as Refunds from "../lab/buyer/Refunds.ts"
import { until } from "../lab/Eventually.ts"
import { ask, TestServer } from "../lab/Fixture.ts"
import { apart, assert, describe, it } from "../lab/Suites.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { stranger } from "../lab/Chain.ts"

const server = proxiedServer("relayer", "20 seconds", "300 millis")
const { operator, returned, unmatched, why } = Refunds
const json = (text: string) => JSON.parse(text)

/** A stone whose payment is in a final block. */
const settled = Effect.gen(function* () {
  const { url } = yield* TestServer
  const sql = yield* SqlClient.SqlClient
  const purchase = yield* Purchase.prepare(url)
  const bought = yield* Purchase.send(url, purchase)
  assert.strictEqual(bought.status, 201, bought.text)
  const { receipt, record } = json(bought.text)
  yield* Purchase.mine(3)
  yield* sql`UPDATE payment_attempts SET next_check_at = now() WHERE id = ${record.id}::uuid`
  yield* sql`SELECT id FROM payment_attempts WHERE finality = 'final' AND id = ${record.id}::uuid`.pipe(
    until("it never was final", (rows) => rows.length > 0),
  )
  return { purchase, text: bought.text, id: String(record.id), transaction: String(receipt.transaction) }
})

/** As if two inquiries of a node that lied had agreed that the payment is gone. */
const marked = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE payment_attempts SET finality = 'lost' WHERE id = ${id}::uuid`,
  )

apart("admin refund", server, (it) => {
  it.on(carded("20 seconds"))("refuses a card's payment, and names who refunds it", function* ({ url, sql }) {
    const one = yield* operator
    const bought = yield* send(yield* prepare(url))
    assert.strictEqual(bought.status, 201, bought.text)
    const refused = yield* one.refund("--attempt", json(bought.text).record.id, "--key-file", one.keyFile, ...why)
    assert.strictEqual(refused.code, 1, refused.stdout)
    assert.include(
      refused.stderr,
      "This payment was made by card. Refund it at the card processor. Nothing was recorded.",
    )
    assert.deepStrictEqual(yield* sql`SELECT id FROM payment_refunds`, [])
  })

  // I19
  it("refunds a lost act that was paid by its id alone, once, and shows it there", function* ({ sql, url }) {
    const one = yield* operator
    const { id, purchase, transaction } = yield* settled
    yield* marked(id)
    const [listed] = json((yield* one.refund("--json")).stdout).payments
    assert.deepInclude(listed, { reason: "lost", attempt: id, transaction })
    const all = yield* one.refund("--all", "--key-file", one.keyFile, ...why)
    assert.include(all.stdout, "Its act was delivered, so nothing is owed. --attempt refunds it by choice.")
    assert.include(all.stdout, "Recorded 0 of 1 refunds: 0 atomic USDC in all.")
    yield* one.repay("--attempt", id)
    const refund = yield* Refunds.becomes(transaction, "REFUNDED")
    assert.deepInclude(refund, { reason: "lost", attempt: id, amountAtomic: "10000", originalAtomic: "10000" })
    const { receipt } = json((yield* ask(`${url}/api/acts/${id}`)).text).act
    assert.strictEqual(receipt.refund.id, refund.id)
    assert.strictEqual(json((yield* one.refund("--json")).stdout).payments.length, 0)
    assert.deepStrictEqual(yield* returned(purchase.payer.address), [10_000n])

    // A record that was signed at the first sighting is not shown of a refund that did not last.
    const shown = Effect.map(Refunds.refundsOf(url, transaction), ([newest]) => newest)
    yield* sql`UPDATE payment_attempts SET payment_response = 'e30.e30.c2ln' WHERE act = 'refund'`
    assert.deepInclude(yield* shown, { state: "REFUNDED", signature: "e30.e30.c2ln" })
    yield* sql`UPDATE payment_attempts SET finality = 'lost' WHERE act = 'refund'`
    assert.deepInclude(yield* shown, { state: "REFUND_FAILED", signature: null })
  })

  it("refunds a settled act, which keeps its answer and is shown with its refund", function* ({ sql, url }) {
    const one = yield* operator
    const { id, purchase, text, transaction } = yield* settled
    yield* one.repay("--attempt", id, "--amount", "0.004")
    const refund = yield* Refunds.becomes(transaction, "PARTIALLY_REFUNDED")
    assert.strictEqual(refund.attempt, id)
    const act = json((yield* ask(`${url}/api/acts/${id}`)).text).act
    assert.deepInclude(act.receipt.refund, { id: refund.id, amountAtomic: "4000", reason: "settled" })
    const page = (yield* ask(`${url}/witness/${id}`, { headers: { accept: "text/html" } })).text
    assert.include(page, "Refunded to the payer in part: 4000 atomic")
    assert.include(page, `href="/api/refunds/${refund.refundTransaction}"`)
    const { refund_policy: policy } = json((yield* ask(`${url}/.well-known/x402`)).text)
    assert.strictEqual(policy.refund_endpoint, `${url}/api/refunds/{transaction}`)
    assert.include(policy.states, refund.state)
    assert.strictEqual(json((yield* ask(`${url}/api/witness/${id}`)).text).receipt.refund.id, refund.id)
    const replayed = yield* Purchase.send(url, purchase)
    assert.strictEqual(replayed.text, text.replace(/false\}$/u, "true}"))
    const reconciled = yield* Purchase.reconcile(url, purchase)
    assert.strictEqual(reconciled.text, replayed.text, "a reconcile repeats the first answer")
    const link = reconciled.headers.get("link") ?? ""
    assert.match(link, /^<\/api\/refunds\/0x[0-9a-f]{64}>; rel="related"; title="refund"$/u)
    const linked = json((yield* ask(`${url}${link.slice(1, link.indexOf(">"))}`)).text)
    assert.deepInclude(linked.refunds[0], { id: refund.id, refundTransaction: refund.refundTransaction })
    // As if a reorganisation had put the payment into another transaction before it was refunded.
    const moved = `0x${"77".repeat(32)}`
    yield* sql`UPDATE payment_attempts SET current_transaction = ${moved} WHERE id = ${id}::uuid`
    yield* sql`UPDATE payment_refunds SET original_transaction = ${moved}`
    for (const paid of [moved, transaction])
      assert.deepInclude((yield* Refunds.refundsOf(url, paid))[0], { id: refund.id })
    assert.deepStrictEqual(yield* returned(purchase.payer.address), [4_000n])
  })

  it("refuses an act that is not final yet, and a lost one whose payer was not charged", function* ({ url }) {
    const one = yield* operator
    const purchase = yield* Purchase.prepare(url)
    const bought = yield* Purchase.send(url, purchase)
    const { id } = json(bought.text).record
    const early = yield* one.refund("--attempt", id, "--key-file", one.keyFile, ...why)
    assert.include(early.stderr, "not final yet")
    yield* marked(id)
    yield* Purchase.reorganise(1)
    yield* Purchase.mine(4)
    const refused = yield* one.refund("--attempt", id, "--key-file", one.keyFile, ...why)
    assert.include(refused.stderr, "The block of this payment was orphaned and the payer was not charged")
    assert.deepStrictEqual(yield* returned(purchase.payer.address), [])
  })

  it("refunds the payment of a failed attempt, and its buyer's reconcile says so", function* ({ url, sql }) {
    const one = yield* operator
    const { id, purchase, transaction } = yield* settled
    // As if a lying node had made it fail, and its payment had been found afterwards.
    yield* sql`DELETE FROM payment_claims WHERE attempt_id = ${id}::uuid`
    yield* sql`
      INSERT INTO payment_strays (name, network, asset, pay_to, payer, nonce, amount_atomic, valid_before, transaction, found_at)
      SELECT lower('authorization:' || network || ':' || asset || ':' || payer || ':' || nonce), network, asset, pay_to,
        payer, nonce, amount_atomic, extract(epoch FROM now())::bigint - 1, transaction, now()
      FROM payment_attempts WHERE id = ${id}::uuid`
    yield* sql`
      UPDATE payment_attempts SET state = 'failed', reason = 'authorization_expired', transaction = NULL
      WHERE id = ${id}::uuid`
    const noted = yield* Purchase.reconcile(url, purchase)
    assert.include(String(noted.json["message"]), "is recorded for the operator")
    yield* one.repay("--attempt", id)
    const refund = yield* Refunds.becomes(transaction, "REFUNDED")
    const told = yield* Purchase.reconcile(url, purchase)
    assert.deepStrictEqual([told.status, told.json["code"]], [402, "payment_failed"])
    assert.deepInclude(told.json["refund"], { id: refund.id, reason: "failed", attempt: id, state: "REFUNDED" })
    assert.include(
      String(told.json["message"]),
      `10000 atomic USDC of it were refunded to ${refund.payer} in transaction ${refund.refundTransaction}`,
    )
  })

  it("prints a call that any wallet can send, and the server records its transfer as the refund", function* ({ rpc }) {
    const one = yield* operator
    const bought = yield* unmatched
    rpc.arm("eth_sendRawTransaction", "swallow")
    const printed = yield* one.repay("--payment", bought.transaction, "--json")
    const { call }: { call: { to: Hex; data: Hex } } = json(printed).refunds[0]
    const sent = yield* Purchase.onChain(async (client) => {
      const hash = await client.sendTransaction({ ...call, account: stranger, chain: null })
      return client.waitForTransactionReceipt({ hash })
    })
    assert.strictEqual(sent.status, "success")
    const refund = yield* Refunds.becomes(bought.transaction, "REFUNDED")
    assert.strictEqual(refund.refundTransaction, sent.transactionHash)
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
  })
})

describe("the nonce of a refund", () => {
  it("is the hash that docs/payment-protocol.md names", () => {
    const payment = `authorization:eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913:0x70997970c51812dc3a010c7d01b50e0d17dc79c8:0x${"cd".repeat(32)}`
    // printf 'spirit-altar/refund/v1\\0eip155:8453\\0authorization:…\\0001' | sha256sum
    const [first, second] = ["8574c91bea91c27a59fc02c6ba2570fe", "29c09d16a48ff46e7f12834e0a2238e9"]
    assert.strictEqual(refundNonce("eip155:8453", payment), `0x${first}${second}`)
  })
})
