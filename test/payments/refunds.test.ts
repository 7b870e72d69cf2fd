/** A payment that bought nothing is returned once, by the wallet that was paid, to the wallet that paid. */
import { join } from "node:path"
import { readFileSync, writeFileSync } from "node:fs"
import { Effect, Fiber, Redacted } from "effect"
import { generatePrivateKey } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { audit } from "../audit/Audit.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as Refunds from "../lab/buyer/Refunds.ts"
import { paymentFixture } from "../lab/buyer/PaymentFixture.ts"
import { order } from "../lab/buyer/TokenIssuer.ts"
import { agreeing, broadcast, giveCode, leave } from "../lab/buyer/ThirdParty.ts"
import { until } from "../lab/Eventually.ts"
import { ask, TestServer } from "../lab/Fixture.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { apart, assert } from "../lab/Suites.ts"

const server = proxiedServer("relayer", "20 seconds", "300 millis")
const hosted = proxiedServer("facilitator", "2 seconds", "300 millis")

const { operator, payTo, returned, unmatched, why } = Refunds

const json = (text: string) => JSON.parse(text)

/** The findings of the auditor, which shares no code with the server. */
const audited = Effect.gen(function* () {
  const { url } = yield* TestServer
  const database = yield* LocalDatabase
  const { asset, payTo: paid, rpcUrl } = yield* LocalChain
  const target = { servers: [url], token: asset, payTo: paid, answersFile: null, isQuiet: true, log: () => undefined }
  return yield* Effect.promise(() => audit({ ...target, databaseUrl: Redacted.value(database.url), rpcUrl }))
})

/** More than a day later, in a final block. */
const aDayLater = Purchase.onChain(async (client) => {
  await client.increaseTime({ seconds: 90_000 })
  await client.mine({ blocks: 4 })
})

apart("an unmatched payment", server, (it) => {
  // I19
  it("is listed, returned in full once, and shown to every caller until its block is final", function* () {
    const { url } = yield* TestServer
    const one = yield* operator
    const bought = yield* unmatched
    const listed = yield* one.refund("--json")
    assert.strictEqual(listed.code, 0, listed.stderr)
    const [found] = json(listed.stdout).payments
    const { transaction } = bought
    assert.deepInclude(found, { reason: "unmatched", attempt: null, transaction, amountAtomic: "10000" })
    assert.include((yield* one.refund()).stdout, "It can be refunded.")

    yield* one.repay("--payment", bought.transaction)
    const refund = yield* Refunds.becomes(bought.transaction, "REFUNDED")
    assert.deepInclude(refund, { originalTransaction: transaction, amountAtomic: "10000", reason: "unmatched" })
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
    yield* Purchase.mine(3)
    const final = yield* Refunds.becomes(bought.transaction, "REFUNDED", "final")
    assert.deepStrictEqual(yield* Refunds.refundsOf(url, final.refundTransaction), [final])

    const again = yield* one.refund("--payment", bought.transaction, "--key-file", one.keyFile, ...why)
    assert.strictEqual(again.code, 1)
    assert.include(again.stderr, `was refunded in transaction ${final.refundTransaction}`)
    assert.include((yield* one.refund("--all", "--key-file", one.keyFile, ...why)).stdout, "No payment needs a refund.")
    assert.strictEqual((yield* Purchase.send(url, bought)).status, 409, "a refunded payment buys nothing")
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
    const report = yield* audited
    assert.deepStrictEqual(report.violations, [])
    assert.deepInclude(report.checks, { name: "a settled refund was paid once", examined: 1 })
    const field = json((yield* ask(`${url}/api/field`)).text)
    assert.deepStrictEqual([field.acts, field.centsSettled], [0, 0], "a refund is no act and no sale")
  })

  it.on(hosted)("is returned through a facilitator as well", function* () {
    const one = yield* operator
    const bought = yield* unmatched
    assert.include(yield* one.repay("--all"), "Recorded 1 of 1 refunds: 10000 atomic USDC in all.")
    yield* Refunds.becomes(bought.transaction, "REFUNDED")
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
  })

  // I19
  it("is returned once when two operators refund different amounts at once", function* () {
    const one = yield* operator
    const bought = yield* unmatched
    const [all, half] = yield* Effect.all(
      [[], ["--amount", "0.005"]].map((amount) =>
        one.refund("--payment", bought.transaction, "--key-file", one.keyFile, ...amount, ...why),
      ),
      { concurrency: "unbounded" },
    )
    assert.deepStrictEqual([all?.code, half?.code].sort(), [0, 1])
    const state = all?.code === 0 ? "REFUNDED" : "PARTIALLY_REFUNDED"
    const refund = yield* Refunds.becomes(bought.transaction, state)
    assert.deepStrictEqual(yield* returned(bought.payer.address), [BigInt(refund.amountAtomic)])
  })

  // I19
  it("that its buyer claims at the same moment goes to exactly one of the two", function* () {
    const { database, url } = yield* paymentFixture
    const one = yield* operator
    const bought = yield* Purchase.prepare(url)
    const transaction = yield* broadcast(bought)
    yield* Purchase.mine(3)
    // The buyer's request has been judged in time, and reaches the claim after the payment's end.
    yield* Refunds.record(bought, transaction)
    const trap = database.arm(/INSERT INTO payment_attempts/u, "holdBefore")
    const buying = yield* Effect.forkScoped(Purchase.send(url, bought))
    yield* trap.arrived
    yield* one.repay("--payment", transaction)
    yield* trap.release
    const answer = yield* Fiber.join(buying)
    assert.strictEqual(answer.json["code"], "payment_authorization_already_bound")
    yield* Refunds.becomes(transaction, "REFUNDED")
    assert.deepInclude(yield* Purchase.books(bought), { charged: 1, acts: 0, stones: 0 })
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
  })

  // I20
  it("is returned only by the wallet that was paid and can pay, up to its amount, and with a reason", function* ({
    sql,
  }) {
    const one = yield* operator
    const { transaction } = yield* unmatched
    const stranger = join(one.folder, "stranger.key")
    writeFileSync(stranger, generatePrivateKey(), { mode: 0o600 })
    const [payment, key] = [
      ["--payment", transaction],
      ["--key-file", one.keyFile],
    ]
    const refuse = Effect.fnUntraced(function* (sentence: string, ...args: ReadonlyArray<string>) {
      const refused = yield* one.refund(...args)
      assert.strictEqual(refused.code, 1, refused.stdout)
      assert.include(refused.stderr, sentence)
    })
    yield* refuse("Only the wallet that was paid can refund", ...payment, "--key-file", stranger, ...why)
    yield* refuse("at most all of it", ...payment, ...key, "--amount", "0.02", ...why)
    yield* refuse("part of one payment", "--all", ...key, "--amount", "0.005", ...why)
    yield* refuse("--why is blank", ...payment, ...key)
    yield* refuse("No key of the wallet", ...payment, ...why)
    yield* leave(payTo)
    yield* refuse("holds less USDC than 10000 atomic. Fund it", ...payment, ...key, ...why)
    yield* refuse("wallet.key cannot be written, or exists.", ...payment, "--unsigned", one.keyFile, ...why)
    assert.deepStrictEqual(yield* sql`SELECT id FROM payment_refunds`, [])
  })

  it("is returned by a signature made elsewhere: by the wallet's key, or by its contract", function* () {
    const one = yield* operator
    const file = join(one.folder, "refund.json")
    const bought = yield* unmatched
    const named = ["--payment", bought.transaction]
    const written = yield* one.refund(...named, "--unsigned", file)
    assert.strictEqual(written.code, 0, written.stderr)
    const data = json(readFileSync(file, "utf8"))
    const signed = (signature: string) =>
      one.refund(...named, "--signed", file, "--signature", signature, "--json", ...why)
    const forged = yield* signed(`0x${"11".repeat(65)}`)
    assert.include(forged.stderr, "This is not a signature of")
    const done = yield* signed(yield* Effect.promise(() => payTo.signTypedData(data)))
    assert.strictEqual(done.code, 0, done.stderr)
    assert.strictEqual(json(done.stdout).refunds[0].nonce, data.message.nonce)
    yield* Refunds.becomes(bought.transaction, "REFUNDED")

    const other = yield* unmatched
    const second = join(one.folder, "second.json")
    yield* giveCode(payTo.address, agreeing)
    yield* one.refund("--payment", other.transaction, "--unsigned", second)
    const wrong = yield* signed("0x1234")
    assert.include(wrong.stderr, "was refunded", "a file is for one payment")
    const byContract = ["--payment", other.transaction, "--signed", second, "--signature", "0x1234"]
    const contract = yield* one.refund(...byContract, ...why)
    assert.strictEqual(contract.code, 0, contract.stderr)
    yield* Refunds.becomes(other.transaction, "REFUNDED")
    assert.deepStrictEqual(yield* returned(other.payer.address), [10_000n])
  })
})

apart("a refund", server, (it) => {
  // I21
  it("to a blocked wallet waits until it expires, fails then, and can be repeated once the wallet is unblocked", function* () {
    const { rpc, sql } = yield* paymentFixture
    const one = yield* operator
    const bought = yield* unmatched
    yield* order(["blacklist", bought.payer.address])
    const refused = yield* one.refund("--payment", bought.transaction, "--key-file", one.keyFile, ...why)
    assert.include(refused.stderr, "one of the two wallets is blocked. Try again later. Nothing was recorded.")
    yield* order(["unBlacklist", bought.payer.address])
    rpc.arm("eth_sendRawTransaction", "dropBefore")
    yield* one.repay("--payment", bought.transaction)
    yield* order(["blacklist", bought.payer.address])
    yield* rpc.calm
    yield* sql`SELECT checks FROM payment_attempts WHERE act = 'refund' AND checks > 2`.pipe(
      until("no sweep inquired", (rows) => rows.length > 0),
    )
    yield* Refunds.becomes(bought.transaction, "REFUND_PENDING")
    yield* aDayLater
    yield* sql`UPDATE payment_attempts SET next_check_at = now() WHERE act = 'refund'`
    yield* Refunds.becomes(bought.transaction, "REFUND_FAILED")
    assert.deepStrictEqual(yield* returned(bought.payer.address), [])

    yield* order(["unBlacklist", bought.payer.address])
    const file = join(one.folder, "refund.json")
    yield* one.refund("--payment", bought.transaction, "--unsigned", file)
    const signature = yield* Effect.promise(() => payTo.signTypedData(json(readFileSync(file, "utf8"))))
    const again = yield* one.refund("--payment", bought.transaction, "--signed", file, "--signature", signature, ...why)
    assert.strictEqual(again.code, 0, again.stderr)
    yield* Refunds.becomes(bought.transaction, "REFUNDED")
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
  })

  // I19
  it("that a lying node made fail is found when it is repeated, and is never paid twice, whatever the amount", function* () {
    const { sql } = yield* paymentFixture
    const one = yield* operator
    const bought = yield* unmatched
    const refund = (...more: ReadonlyArray<string>) =>
      one.refund("--payment", bought.transaction, "--key-file", one.keyFile, ...more, ...why)
    /** As if two inquiries had found it unused after it expired. */
    const misled = sql`
        WITH f AS (UPDATE payment_attempts SET state = 'failed', reason = 'authorization_expired' WHERE act = 'refund' RETURNING id)
        DELETE FROM payment_claims USING f WHERE attempt_id = f.id`
    yield* refund()
    const first = yield* Refunds.becomes(bought.transaction, "REFUNDED")
    yield* Purchase.mine(3)
    yield* misled
    yield* refund()
    const second = yield* Refunds.becomes(bought.transaction, "REFUNDED")
    assert.strictEqual(second.refundTransaction, first.refundTransaction)
    yield* misled
    yield* refund("--amount", "0.005")
    yield* Refunds.becomes(bought.transaction, "REFUND_FAILED")
    const refused = yield* refund()
    assert.strictEqual(refused.code, 1)
    assert.include(refused.stderr, "the nonce of its refund was used elsewhere")
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
  })

  it("whose block was orphaned is sent again and paid once", function* () {
    const one = yield* operator
    const bought = yield* unmatched
    yield* one.repay("--payment", bought.transaction)
    yield* Refunds.becomes(bought.transaction, "REFUNDED")
    yield* Purchase.reorganise(1)
    yield* Purchase.mine(1)
    assert.deepStrictEqual(yield* returned(bought.payer.address), [])
    yield* returned(bought.payer.address).pipe(until("it was not sent again", (amounts) => amounts.length > 0))
    yield* Purchase.mine(3)
    yield* Refunds.becomes(bought.transaction, "REFUNDED", "final")
    assert.deepStrictEqual(yield* returned(bought.payer.address), [10_000n])
  })
})
