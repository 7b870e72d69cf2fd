/** Signed receipts as x402's own extension reads and verifies them, in the first answer, its replay and after a rotation. */
import { verifyReceiptSignatureJWS } from "@x402/extensions/offer-receipt"
import { Effect } from "effect"
import { leafHash } from "../../schema/log/Merkle.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { sha256 } from "../../src/altar/Hashes.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { ask, layer as world, newCommitment, newPayer, pay, post } from "../lab/Fixture.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { didOf, first, second, signedIn } from "../lab/server/ReceiptKeys.ts"
import { assert, suite } from "../lab/Suites.ts"

suite("a settled act", world({}, undefined, { receipts: { current: first, retired: [] } }), (it) => {
  it("carries a receipt that the extension verifies by the published key", function* ({ url }) {
    const payer = yield* newPayer()
    const { answer, headers, key, payment } = yield* pay(payer, `${url}/api/witness`, {
      commitment: newCommitment(),
    })
    assert.strictEqual(answer.status, 201)
    const receipt = signedIn(answer)
    const verified: object = yield* Effect.promise(() => verifyReceiptSignatureJWS(receipt))
    const { receipt: shown, record } = JSON.parse(answer.text)
    const { previousHash, sequence, commitment, transaction, witnessedAt } = record
    assert.deepEqual(verified, {
      version: 1,
      network: shown.network,
      resourceUrl: `${url}/api/witness`,
      payer: shown.payer,
      issuedAt: Math.floor(Date.parse(shown.settledAt) / 1000),
      transaction: shown.transaction,
      delivered: {
        act: "setWitnessStone",
        id: record.id,
        amount: shown.amountAtomic,
        asset: shown.asset,
        payTo: shown.payTo,
        nonce: payment.payload.authorization.nonce,
        record: sha256(canonicalJson(record)),
        sequence,
        leaf: leafHash(sha256, entryOf({ previousHash, sequence, commitment, transaction, witnessedAt })),
      },
    })
    const [header = ""] = receipt.signature.split(".")
    assert.deepEqual(JSON.parse(Buffer.from(header, "base64url").toString()), {
      alg: "EdDSA",
      kid: `${didOf(url)}#receipts-1`,
      typ: "x402-receipt+jws",
    })
    assert.isBelow((answer.headers.get("payment-response") ?? "").length, 4_096)
    const again = yield* ask(`${url}/api/witness`, post({ commitment }, headers))
    assert.strictEqual(again.status, 200)
    const reconciled = yield* ask(`${url}/api/reconcile/${key}`, { method: "POST" })
    for (const repeated of [again, reconciled]) {
      assert.strictEqual(repeated.headers.get("payment-response"), answer.headers.get("payment-response"))
    }
  })

  it("keeps a valid receipt after a key rotation, and a forged one is rejected", function* ({ url }) {
    const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() })
    const receipt = signedIn(answer)
    const [header, payload = "", signature] = receipt.signature.split(".")
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
    const forged = Buffer.from(JSON.stringify({ ...claims, payer: claims.delivered.payTo })).toString("base64url")
    const refused = yield* Effect.exit(
      Effect.tryPromise(() =>
        verifyReceiptSignatureJWS({ ...receipt, signature: [header, forged, signature].join(".") }),
      ),
    )
    assert.strictEqual(refused._tag, "Failure")

    const rotated = yield* anotherServer({}, { receipts: { current: second, retired: [first] } })
    const document = yield* ask(`${rotated}/.well-known/did.json`)
    const { assertionMethod, id, verificationMethod } = JSON.parse(document.text)
    assert.strictEqual(document.headers.get("content-type"), "application/did+json")
    assert.strictEqual(document.headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(id, didOf(url))
    assert.deepStrictEqual(assertionMethod, [`${id}#receipts-2`])
    const old = verificationMethod.find((one: { id: string }) => one.id === `${id}#receipts-1`)
    const verified = yield* Effect.promise(() => verifyReceiptSignatureJWS(receipt, old.publicKeyJwk))
    assert.deepEqual(verified, claims)
  })
})

suite("a server without a receipt key", world(), (it) => {
  it("answers as before, and publishes no keys", function* ({ url }) {
    const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() })
    const settled = JSON.parse(Buffer.from(answer.headers.get("payment-response") ?? "", "base64").toString())
    assert.hasAllKeys(settled, ["success", "transaction", "network", "payer"])
    assert.strictEqual((yield* ask(`${url}/.well-known/did.json`)).status, 404)
  })
})
