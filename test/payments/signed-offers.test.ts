/** Signed receipts and offers as stock clients meet them, and the budgets of their headers. */
import {
  extractJWSHeader,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  isJWSSignedOffer,
  verifyOfferSignatureJWS,
} from "@x402/extensions/offer-receipt"
import { Effect } from "effect"
import { ask, layer as world, newCommitment, newPayer, pay } from "../lab/Fixture.ts"
import { stockPurchase } from "../lab/buyer/StockClient.ts"
import { longestItem, longestSpirit } from "../lab/ActTable.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { didOf, first, keyNamed, second, signedIn } from "../lab/server/ReceiptKeys.ts"
import { assert, suite } from "../lab/Suites.ts"

suite("a signed receipt", world({}, undefined, { receipts: { current: first, retired: [] } }), (it) => {
  it("is read by the stock client like any other", function* ({ url }) {
    const { answer, read, told } = yield* stockPurchase(url, yield* newPayer())
    assert.strictEqual(answer.status, 201)
    assert.include(read, { status: 201, paymentStatus: "settled" })
    assert.deepStrictEqual(told, [read.header])
    assert.isDefined(extractReceiptFromResponse(answer))
  })

  it("stays below 4 KB in its header where host, path, query and key have maximum length", function* () {
    const publicUrl = `https://${"a".repeat(63)}.${"b".repeat(63)}.example`
    const key = keyNamed("k".repeat(64))
    const here = yield* anotherServer({}, { publicUrl, receipts: { current: key, retired: [] } })
    const [spirit, item] = [longestSpirit, longestItem]
    const paths = [`/api/elements/${item}/collect?spirit=${spirit}`, "/api/witness", `/api/prayers/${spirit}`]
    const sizes: Array<number> = []
    for (const path of paths) {
      const body = path.includes("witness")
        ? { commitment: newCommitment() }
        : {
            agentName: "🪨".repeat(64),
            ...(path.includes("prayers") ? { intentionCommitment: newCommitment() } : {}),
          }
      const { answer } = yield* pay(yield* newPayer(), `${here}${path}`, body)
      assert.strictEqual(answer.status, 201, answer.text)
      sizes.push((answer.headers.get("payment-response") ?? "").length)
    }
    assert.isAbove(Math.min(...sizes), 1_000)
    assert.isAtMost(Math.max(...sizes), 4_096)
  })
})

suite(
  "a server with a key for offers",
  world({}, undefined, { receipts: { current: first, offers: second, retired: [] } }),
  (it) => {
    it("signs offers under another key and type than receipts, as the extension verifies", function* ({ url }) {
      const probe = yield* ask(`${url}/api/witness`, { method: "POST" })
      const required = JSON.parse(Buffer.from(probe.headers.get("payment-required") ?? "", "base64").toString())
      const [offer] = extractOffersFromPaymentRequired(required)
      if (offer === undefined || !isJWSSignedOffer(offer)) return assert.fail("no signed offer")
      const verified: object = yield* Effect.promise(() => verifyOfferSignatureJWS(offer))
      const { amount, asset, network, payTo, scheme } = required.accepts[0]
      const resourceUrl = `${url}/api/witness`
      assert.deepEqual(verified, { version: 1, resourceUrl, scheme, network, asset, payTo, amount })
      const [header = ""] = offer.signature.split(".")
      assert.deepEqual(JSON.parse(Buffer.from(header, "base64url").toString()), {
        alg: "EdDSA",
        kid: `${didOf(url)}#receipts-2`,
        typ: "x402-offer+jws",
      })
      const size = probe.headers.get("payment-required")?.length ?? 0
      assert.isAbove(size, 1_536, "the reason why offers are not signed by default")
      assert.isAtMost(size, 2_560)
      const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() })
      assert.strictEqual(answer.status, 201)
      assert.strictEqual(extractJWSHeader(signedIn(answer).signature).kid, `${didOf(url)}#receipts-1`)
    })

    it("answers equal 402s with equal bytes", function* ({ url }) {
      const [one, other] = [
        yield* ask(`${url}/api/acquire/dew-spider`, { method: "POST" }),
        yield* ask(`${url}/api/acquire/dew-spider`, { method: "POST" }),
      ]
      assert.strictEqual(one.text, other.text)
    })
  },
)
