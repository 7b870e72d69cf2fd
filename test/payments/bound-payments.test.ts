/** A payment whose nonce names its request: the request that it buys, its receipt, and the proof by the chain alone. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { bindingExtension, bindingMarker } from "../../schema/payments/BindingRecipe.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { boundTo } from "../../src/buyer/core/Authorization.ts"
import type { Challenge } from "../../src/buyer/core/Challenge.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { call, connect } from "../lab/McpClient.ts"
import { buyerOf, newCustomer } from "../lab/buyer/LibraryBuyer.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { stockPurchase } from "../lab/buyer/StockClient.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"
import { ask, newCommitment, newKey, newPayer, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { checked, key as receiptKey, receipts } from "../lab/buyer/ReceiptFiles.ts"

const house = Layer.provideMerge(Moderation.layer, world({}, { receipts, log: signing }))

/** A payment for this body, bound to it; `extension` replaces the one that proves it. */
const boundPayment = Effect.fnUntraced(function* (body: object, extension?: object) {
  const { url } = yield* TestServer
  const payer = yield* newPayer()
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": newKey() })))
  const { nonce, salt } = yield* Effect.promise(() => boundTo(challenge as Challenge, JSON.stringify(body)))
  const payment = yield* sign(payer, challenge.accepts[0], challenge.resource, { nonce })
  const info = extension ?? { version: 1, salt }
  return { ...payment, payer, extensions: { [bindingExtension]: { info } } }
})

const submit = (body: object, payment: object) =>
  Effect.flatMap(TestServer, ({ url }) =>
    ask(`${url}/api/witness`, post(body, { "idempotency-key": newKey(), "payment-signature": encode(payment) })),
  )

layer(house, realClock)("a payment bound to its request", (it) => {
  it.effect("buys it for any presenter, and no other request, before and after its transfer", function* () {
    const body = { commitment: newCommitment(), kind: "promise" }
    const { payer, ...payment } = yield* boundPayment(body)
    const other = { ...body, commitment: newCommitment() }
    const { extensions, ...bare } = payment
    const forgeries = [
      payment,
      bare,
      { ...bare, extensions: { [bindingExtension]: { info: { version: 1 } } } },
      { ...bare, extensions: { [bindingExtension]: { info: { version: 1, salt: "A".repeat(22) } } } },
    ]
    const assertRefused = Effect.forEach(forgeries, (forged) =>
      Effect.map(submit(other, forged), (answer) => {
        assertAnswer(answer, 402, "payment_invalid")
        assert.match(String(answer.json["message"]), /nonce is not the one of this request/u)
      }),
    )
    yield* assertRefused
    const { nonce, validBefore } = payment.payload.authorization
    yield* ThirdParty.broadcast({ payer, nonce, validBefore, signature: payment.payload.signature })
    yield* assertRefused
    const answer = yield* submit(body, payment)
    assert.strictEqual(answer.status, 201, answer.text)
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS n FROM payment_attempts`, [{ n: 1 }])
  })

  it.effect("names the salt that has no form", function* () {
    const body = { commitment: newCommitment() }
    for (const salt of ["A".repeat(20), 7, "A".repeat(44), `${"A".repeat(21)}=`]) {
      const { payer: _, ...payment } = yield* boundPayment(body, { version: 1, salt })
      const answer = yield* submit(body, payment)
      assertAnswer(answer, 402, "payment_invalid")
      assert.match(String(answer.json["message"]), /request-binding\.info\.salt must be 16 to 32 bytes/u)
    }
  })

  it.effect("is made by the library, proved by the chain alone, and broken with another salt", function* () {
    const at = yield* newCustomer()
    const altar = buyerOf(at)
    const { record } = yield* Effect.promise(() =>
      altar.witness({ words: "The heron will return by May.", kind: "prediction", key: newKey() }),
    )
    const read = yield* ask(`${at.url}/api/witness/${record.id}`)
    const { binding } = JSON.parse(read.text).receipt
    assert.deepInclude(binding, { version: 1, method: "POST", url: `${at.url}/api/witness` })
    const file = yield* ask(`${record.permalink}.receipt.json`)
    assert.strictEqual(file.status, 200, file.text)
    const { rpcUrl } = yield* LocalChain
    yield* Effect.promise(() => altar.reveal(record.id))
    // The longest answer: revealed, bound, and in a log.
    const tools = yield* connect(`${at.url}/mcp`)
    const verified = call(tools, "verify_witness", { witnessId: record.id })
    const { text } = yield* verified
    assert.deepInclude(JSON.parse(text), { verified: true })
    const proof = yield* checked(file.text, { key: Option.some(receiptKey), rpc: Option.some(rpcUrl) })
    assert.strictEqual(proof.ended._tag, "Success", proof.lines.join("\n"))
    assert.isTrue(proof.lines.some((line) => /^HOLDS {8}binding: .*pays for nothing else\.$/u.test(line)))
    assert.isTrue(
      proof.lines.some((line) =>
        new RegExp(`^HOLDS {8}payment: .* in block \\d+ .* nonce ${bindingMarker}`, "u").test(line),
      ),
      proof.lines.join("\n"),
    )
    const changed = JSON.stringify({ ...JSON.parse(file.text), body: { commitment: newCommitment() } })
    const forged = yield* checked(changed, { key: Option.some(receiptKey) })
    assert.isTrue(forged.lines.some((line) => line.startsWith("BROKEN       binding: ")))
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE acts SET receipt = replace(receipt, ${binding.salt}, ${"A".repeat(22)}) WHERE id = ${record.id}::uuid`
    const broken = JSON.parse((yield* verified).text)
    assert.deepStrictEqual([broken.verified, broken.link.holds, broken.binding.state], [false, true, "broken"])
  })

  it.effect("shows no binding of a body with a hidden text, and shows it again with the text", function* () {
    const { url } = yield* TestServer
    const body = { commitment: newCommitment(), agentName: "Wren" }
    const { payer: _, ...payment } = yield* boundPayment(body)
    const { record } = JSON.parse((yield* submit(body, payment)).text)
    const sql = yield* SqlClient.SqlClient
    const moderation = yield* Moderation
    const shown = Effect.map(
      ask(`${url}/api/witness/${record.id}`),
      ({ text }) => JSON.parse(text).receipt.binding?.bodySha256,
    )
    assert.match(yield* shown, /^[0-9a-f]{64}$/u)
    yield* sql.withTransaction(moderation.hide(record.id, "name"))
    assert.isUndefined(yield* shown)
    yield* sql.withTransaction(moderation.show(record.id, "name"))
    assert.match(yield* shown, /^[0-9a-f]{64}$/u)
  })
})

layer(house, realClock)("a payment with a random nonce", (it) => {
  it.effect("of the stock client, which echoes the extension, is as valid, and its receipt says so", function* () {
    const { url } = yield* TestServer
    const { answer, key } = yield* stockPurchase(url, yield* newPayer())
    assert.strictEqual(answer.status, 201)
    const { text } = yield* ask(`${url}/api/reconcile/${key}`, { method: "POST" })
    assert.isNull(JSON.parse(text).receipt.binding)
  })
})
