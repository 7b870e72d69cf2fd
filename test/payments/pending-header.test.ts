/** The `PAYMENT-RESPONSE` of a 202 says that the outcome is unknown, and no stock client takes it for a failure. */
import { newPayer } from "../lab/Fixture.ts"
import { stockPurchase } from "../lab/buyer/StockClient.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { apart, assert } from "../lab/Suites.ts"

const headerOf = (headers: Headers) =>
  JSON.parse(Buffer.from(headers.get("payment-response") ?? "", "base64").toString())

apart("the header of a pending payment", proxiedServer("relayer", "1 second"), (it) => {
  it("names the transaction that may still pay, from the first answer on", function* () {
    const { purchase, url } = yield* signedFixture
    yield* Purchase.automine(false)
    const first = yield* Purchase.send(url, purchase)
    const looked = yield* Purchase.reconcile(url, purchase)
    for (const answer of [first, looked]) Purchase.assertPending(url, purchase, answer)
    const { transaction } = headerOf(first.headers)
    assert.strictEqual(headerOf(looked.headers).transaction, transaction)
    yield* Purchase.mineAll
    yield* Purchase.settlesNow(url, purchase)
    assert.strictEqual((yield* Purchase.books(purchase)).transaction, transaction)
  })

  it.on(proxiedServer("facilitator", "1 second"))("names no transaction while none is known", function* () {
    const { facilitator, purchase, url } = yield* signedFixture
    yield* Purchase.automine(false)
    facilitator.arm("dropAfter")
    const answer = yield* Purchase.send(url, purchase)
    Purchase.assertPending(url, purchase, answer)
    assert.strictEqual(headerOf(answer.headers).transaction, "")
  })

  it("makes @x402/fetch neither throw nor sign again", function* ({ url }) {
    const payer = yield* newPayer()
    yield* Purchase.automine(false)
    const { answer, key, read, told } = yield* stockPurchase(url, payer)
    assert.strictEqual(answer.status, 202)
    assert.deepStrictEqual(told, [headerOf(answer.headers)])
    assert.include(read, { status: 202, paymentStatus: "settle_failed" })
    assert.propertyVal(read.header, "errorReason", "settlement_pending")
    yield* Purchase.mineAll
    assert.strictEqual((yield* Purchase.storedAnswer(url, { key })).status, 200)
    yield* Purchase.audit(url)
  })
})
