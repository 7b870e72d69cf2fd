/** Signed receipts as x402's own extension verifies them. */
import { assert, layer } from "../lab/It.ts"
import {
  extractJWSHeader,
  extractReceiptFromResponse,
  isJWSSignedReceipt,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt"
import { Effect, Result } from "effect"
import { leafHash } from "../../schema/log/Merkle.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { sha256 } from "../../src/altar/Hashes.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { generate, plainFrom } from "../../src/log/Signer.ts"
import { buy, buyAt, reconcile, send } from "../lab/buyer/Purchase.ts"
import { longestItem, longestSpirit } from "../lab/ActTable.ts"
import { type Answer, ask, newCommitment, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

const keyNamed = (name: string) => Result.getOrThrow(Result.flatMap(generate(name), plainFrom))

const [first, second] = [keyNamed("receipts-1"), keyNamed("receipts-2")]

const signedIn = ({ headers }: Pick<Answer, "headers">) => {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }))
  if (receipt === undefined || !isJWSSignedReceipt(receipt)) return assert.fail("no signed receipt")
  return receipt
}

const didOf = (url: string) => `did:web:${encodeURIComponent(new URL(url).host)}`

layer(world({}, { receipts: { current: first, retired: [] } }), realClock)("a settled act", (it) => {
  it.effect("carries a receipt that the extension verifies by the published key", function* () {
    const { url } = yield* TestServer
    const purchase = yield* buy()
    const { answer, nonce, receipt: shown, record } = purchase
    const receipt = signedIn(answer)
    const verified: object = yield* Effect.promise(() => verifyReceiptSignatureJWS(receipt))
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
        nonce,
        record: sha256(canonicalJson(record)),
        sequence,
        leaf: leafHash(sha256, entryOf({ previousHash, sequence, commitment, transaction, witnessedAt })),
      },
    })
    const header = { alg: "EdDSA", kid: `${didOf(url)}#receipts-1`, typ: "x402-receipt+jws" }
    assert.deepEqual<unknown>(extractJWSHeader(receipt.signature), header)
    const again = yield* send(purchase)
    assert.strictEqual(again.status, 200)
    const reconciled = yield* reconcile(purchase)
    for (const repeated of [again, reconciled]) {
      assert.strictEqual(repeated.headers.get("payment-response"), answer.headers.get("payment-response"))
    }
  })

  it.effect("keeps a valid receipt after a key rotation", function* () {
    const { url } = yield* TestServer
    const { answer } = yield* buy()
    const receipt = signedIn(answer)
    const rotated = yield* anotherServer({}, { receipts: { current: second, retired: [first] } })
    const document = yield* ask(`${rotated}/.well-known/did.json`)
    const { assertionMethod, id, verificationMethod } = JSON.parse(document.text)
    assert.strictEqual(document.headers.get("content-type"), "application/did+json")
    assert.strictEqual(document.headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(id, didOf(url))
    assert.deepStrictEqual(assertionMethod, [`${id}#receipts-2`])
    const old = verificationMethod.find((one: { id: string }) => one.id === `${id}#receipts-1`)
    const verified: object = yield* Effect.promise(() => verifyReceiptSignatureJWS(receipt, old.publicKeyJwk))
    assert.propertyVal(verified, "resourceUrl", `${url}/api/witness`)
  })

  it.effect("has a receipt below 4 KB where host, path, query and key have maximum length", function* () {
    const publicUrl = `https://${"a".repeat(63)}.${"b".repeat(63)}.example`
    const here = yield* anotherServer({}, { publicUrl, receipts: { current: keyNamed("k".repeat(64)), retired: [] } })
    const agentName = "🪨".repeat(64)
    for (const [path, body] of [
      [`/api/elements/${longestItem}/collect?spirit=${longestSpirit}`, { agentName }],
      ["/api/witness", { commitment: newCommitment() }],
      [`/api/prayers/${longestSpirit}`, { agentName, intentionCommitment: newCommitment() }],
    ] as const) {
      const { answer } = yield* buyAt(here, { path, body })
      const { length } = answer.headers.get("payment-response") ?? ""
      assert.isTrue(length > 1_000 && length <= 4_096, `${path}: ${length}`)
    }
  })
})
