/** The operator pays back from any wallet. The server checks the transfer, records it once and shows it. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { toEventSelector } from "viem"
import { Chain } from "../../src/payments/x402/chain/Chain.ts"
import { type Log, wordOf } from "../../src/payments/x402/chain/Eip3009.ts"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import { checked } from "../../src/payments/store/Refunds.ts"
import { onServer } from "../lab/server/Live.ts"
import { carded, prepareByCard } from "../lab/buyer/Cards.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as Refunds from "../lab/buyer/Refunds.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { ask, TestServer } from "../lab/Fixture.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"

const byCardPatiently = onServer(carded("20 seconds"))

const server = proxiedServer("relayer", "20 seconds", "300 millis")
const test = onServer(server)
const { refunded, repay } = Refunds
const json = (text: string) => JSON.parse(text)

/** A payment by a third party, which the server learned of after it could buy anything. */
const unmatched = Effect.gen(function* () {
  const purchase = yield* Purchase.prepare()
  const transaction = yield* broadcast(purchase)
  yield* Purchase.mine(3)
  yield* Refunds.note(purchase, transaction)
  return { ...purchase, transaction }
})

const settled = Effect.gen(function* () {
  const purchase = yield* Purchase.buy()
  const { answer, receipt, record } = purchase
  yield* Purchase.mine(3)
  return { purchase, text: answer.text, id: String(record.id), transaction: String(receipt.transaction) }
})

const refuses = Effect.fnUntraced(function* (sentence: string, what: string, transaction: string) {
  const { code, stderr, stdout } = yield* refunded(what, transaction)
  assert.strictEqual(code, 1, stdout)
  assert.include(stderr, sentence)
})

describe.concurrent("admin refunded", () => {
  test("records a transfer once for its payment and once for its transaction", function* () {
    const [one, other] = [yield* unmatched, yield* unmatched]
    const due = json((yield* Refunds.attempts).stdout).unmatched
    assert.deepStrictEqual(
      due.map((payment: { transaction: string }) => payment.transaction),
      [one.transaction, other.transaction],
    )
    const back = yield* repay(one.payer.address)
    yield* Purchase.mine(3)
    const done = yield* refunded(one.transaction, back, "--json", "--reason", "bought nothing", "--by", "Ada")
    assert.strictEqual(done.code, 0, done.stderr)
    assert.deepInclude(json(done.stdout).refund, { transaction: back, amountAtomic: "10000", attempt: null })
    assert.strictEqual(json((yield* Refunds.attempts).stdout).unmatched.length, 1)
    yield* refuses(`was refunded in transaction ${back}`, one.nonce, yield* repay(one.payer.address))
    yield* refuses("moved 0 atomic USDC", other.transaction, back)
    const sql = yield* SqlClient.SqlClient
    const audited = yield* sql`SELECT what, subject, why FROM admin_audit`
    assert.deepStrictEqual(audited, [{ what: "refunded", subject: one.transaction, why: "bought nothing" }])
  })

  test("counts one transaction for one of two payments of a wallet", function* () {
    const one = yield* unmatched
    const other = yield* Purchase.prepare({ funds: 0n, payer: one.payer })
    const second = yield* broadcast(other)
    yield* Purchase.mine(3)
    yield* Refunds.note(other, second)
    const back = yield* repay(one.payer.address)
    yield* Purchase.mine(3)
    const both = yield* Effect.all(
      [one.transaction, second].map((what) => refunded(what, back)),
      { concurrency: 2 },
    )
    assert.deepStrictEqual(both.map(({ code }) => code).sort(), [0, 1])
    const failed = both.find(({ code }) => code === 1)
    assert.include(failed?.stderr, "this transaction is another refund's")
  })

  test("refuses a transfer that is too small, too early, not final, unknown, or to another wallet", function* () {
    const sql = yield* SqlClient.SqlClient
    const before = yield* repay(Refunds.payTo.address, 0n)
    const one = yield* unmatched
    yield* refuses("older than the payment", one.transaction, before)
    yield* refuses("knows no transaction", one.transaction, `0x${"77".repeat(32)}`)
    yield* refuses("Expected: the id of an attempt, or the transaction or nonce of a payment", "stone", before)
    yield* refuses("No payment matches", `0x${"77".repeat(32)}`, before)
    const small = yield* repay(one.payer.address, 9_999n)
    const elsewhere = yield* repay(`0x${"77".repeat(20)}`)
    yield* refuses("not final yet", one.transaction, elsewhere)
    yield* Purchase.mine(3)
    yield* refuses("moved 9999 atomic USDC", one.transaction, small)
    yield* refuses("moved 0 atomic USDC", one.transaction, elsewhere)
    yield* sql`UPDATE unmatched_payments SET valid_before = extract(epoch FROM now())::bigint`
    yield* refuses("The buyer can still buy with this payment", one.transaction, small)
    assert.deepStrictEqual(yield* sql`SELECT payment FROM payment_refunds`, [])
  })

  test("shows the refund of an act that stands on the act, its page and its reconcile answer", function* () {
    const { url } = yield* TestServer
    const { id, purchase, text } = yield* settled
    const isProofOpen = /<details class="fold evidence" open>/u
    assert.notMatch((yield* ask(`${url}/witness/${id}`, { headers: { accept: "text/html" } })).text, isProofOpen)
    const back = yield* repay(purchase.payer.address, 20_000n)
    yield* Purchase.mine(3)
    const done = yield* refunded(id, back)
    assert.strictEqual(done.code, 0, done.stderr)
    const { receipt } = json((yield* ask(`${url}/api/acts/${id}`)).text).act
    assert.deepInclude(receipt.refund, { transaction: back, amountAtomic: "20000", attempt: id })
    const page = (yield* ask(`${url}/witness/${id}`, { headers: { accept: "text/html" } })).text
    assert.include(page, "Refunded to the payer: 20000 atomic USDC")
    assert.match(page, isProofOpen)
    const reconciled = yield* Purchase.reconcile(purchase)
    assert.strictEqual(reconciled.text, text.replace(/false\}$/u, "true}"), "the first answer stays")
    assert.strictEqual(reconciled.headers.get("link"), `</api/acts/${id}>; rel="related"; title="refund"`)
  })

  test("records the refund of a failed attempt, and its key says so", function* () {
    const sql = yield* SqlClient.SqlClient
    const { id, purchase, transaction } = yield* settled
    // As if a lying node had made it fail, and its payment had been found afterwards.
    yield* Refunds.note(purchase, transaction as `0x${string}`)
    yield* sql`
    UPDATE payment_attempts SET state = 'failed', reason = 'authorization_expired', payment = payment - 'transaction'
    WHERE id = ${id}::uuid`
    // As if it had been judged before the attempt claimed it.
    yield* sql`UPDATE unmatched_payments SET attempt = NULL`
    const noted = yield* Purchase.reconcile(purchase)
    assert.include(String(noted.json["message"]), "is recorded for the operator")
    const back = yield* repay(purchase.payer.address)
    yield* Purchase.mine(3)
    const done = yield* refunded(id, back)
    assert.strictEqual(done.code, 0, done.stderr)
    const told = yield* Purchase.reconcile(purchase)
    assert.deepStrictEqual([told.status, told.json["code"]], [402, "payment_failed"])
    assert.deepInclude(told.json["refund"], { transaction: back, attempt: id })
    assert.include(String(told.json["message"]), `were refunded to ${purchase.payer.address.toLowerCase()}`)
  })

  test("refuses an act whose payment was orphaned, since its payer was not charged", function* () {
    const { purchase } = yield* signedFixture
    const { id } = json((yield* Purchase.send(purchase)).text).record
    const back = yield* repay(purchase.payer.address)
    yield* Purchase.reorganise(2)
    yield* Purchase.mine(4)
    yield* refuses("knows no transaction", id, back)
  })

  byCardPatiently("refuses a card's payment, and names who refunds it", function* () {
    const { url } = yield* TestServer
    const { record } = yield* Purchase.settle(yield* prepareByCard(url))
    yield* refuses("Refund it at the card processor.", record.id, `0x${"77".repeat(32)}`)
  })
})

const address = (digit: string) => `0x${digit.repeat(40)}` as const
const hash = (digit: string) => `0x${digit.repeat(64)}` as const
const [asset, payer, other] = [address("a"), address("b"), address("c")]

const moved = (from: `0x${string}`, to: `0x${string}`, amount: bigint): Log => ({
  address: asset,
  topics: [toEventSelector("Transfer(address,address,uint256)"), `0x${wordOf(from)}`, `0x${wordOf(to)}`],
  data: `0x${wordOf(amount)}`,
})

/** The answer of the check for a refund with these logs; without logs the node does not know the transaction. */
const check = (logs?: ReadonlyArray<Log>) => {
  const receiptOf = (asked: string) => {
    const found = asked === hash("2") ? logs : []
    const receipt = { succeeded: true, block: { number: 5n, hash: hash("5") } }
    return Effect.succeed(Option.map(Option.fromUndefinedOr(found), (its) => ({ ...receipt, logs: its })))
  }
  const payment = {
    payment: "",
    attempt: null,
    network: "eip155:1",
    asset,
    payer,
    amountAtomic: 10_000n,
    transaction: hash("1"),
    claimableUntil: null,
    refund: null,
  }
  return checked(payment, hash("2")).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: ({ amountAtomic }) => amountAtomic }),
    Effect.provide([
      Layer.mock(Chain, {
        receiptOf,
        isFinal: () => Effect.succeed(true),
      }),
      Layer.mock(DatabaseClock, { now: Effect.succeed({ millis: 0, aheadMillis: 0 }) }),
    ]),
  )
}

describe.concurrent("the check of a refund", () => {
  it.live("counts what stays with the payer, in the transaction that was asked for", function* () {
    const back = moved(other, payer, 10_000n)
    assert.strictEqual(yield* check([back]), "10000")
    assert.include(yield* check([back, moved(payer, other, 1n)]), "moved 9999 atomic USDC")
    assert.include(yield* check([moved(payer, payer, 10_000n)]), "moved 0 atomic USDC")
    assert.include(yield* check(), "knows no transaction")
  })
})
