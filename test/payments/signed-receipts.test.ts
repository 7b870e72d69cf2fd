/** Signed receipts as x402's own extension reads and verifies them, in the first answer, its replay and after a rotation. */
import { assert, layer } from "@effect/vitest"
import {
  extractJWSHeader,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  isJWSSignedOffer,
  isJWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt"
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch"
import { Effect, Layer, Redacted, Result } from "effect"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { leafHash } from "../../schema/log/Merkle.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { catalogs } from "../../src/altar/collectibles/Items.ts"
import { sha256 } from "../../src/altar/Hashes.ts"
import { fromText, generate, plainFrom } from "../../src/log/Signer.ts"
import { canonicalJson } from "../../src/platform/CanonicalJson.ts"
import { AppConfig } from "../../src/server/config/Config.ts"
import * as Server from "../../src/server/Server.ts"
import {
  type Answer,
  ask,
  configOf,
  layer as world,
  newCommitment,
  newKey,
  newPayer,
  pay,
  post,
  TestServer,
} from "../lab/Fixture.ts"

const keyNamed = (name: string) => Result.getOrThrow(Result.flatMap(generate(name), plainFrom))
const [first, second] = [keyNamed("receipts-1"), keyNamed("receipts-2")]

const signedIn = ({ headers }: Answer) => {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }))
  if (receipt === undefined || !isJWSSignedReceipt(receipt)) return assert.fail("no signed receipt")
  return receipt
}

const longest = (texts: ReadonlyArray<string>) =>
  texts.reduce((longer, text) => (text.length > longer.length ? text : longer), "")

const items = Object.values(catalogs).flatMap(({ entries }) => entries.map(({ id }) => id))

const didOf = (url: string) => `did:web:${encodeURIComponent(new URL(url).host)}`

layer(world({}, undefined, { receipts: { current: first, retired: [] } }), { excludeTestServices: true })(
  "a settled act",
  (it) => {
    it.effect("carries a receipt that the extension verifies by the published key", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
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
      }),
    )

    it.effect("of every kind has a receipt of its own record", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const { answer } = yield* pay(yield* newPayer(), `${url}/api/acquire/dew-spider`, {})
        const { delivered, resourceUrl }: { delivered: object; resourceUrl: string } = JSON.parse(
          JSON.stringify(yield* Effect.promise(() => verifyReceiptSignatureJWS(signedIn(answer)))),
        )
        assert.strictEqual(resourceUrl, `${url}/api/acquire/dew-spider`)
        assert.hasAllKeys(delivered, ["amount", "asset", "payTo", "nonce", "record"])
        assert.propertyVal(delivered, "record", sha256(canonicalJson(JSON.parse(answer.text).record)))
      }),
    )

    it.effect("is read by the stock client as any other", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const payer = yield* newPayer()
        const told: Array<object | undefined> = []
        const client = new x402Client().register("eip155:*", new ExactEvmScheme(payer))
        client.onPaymentResponse(async ({ settleResponse }) => {
          told.push(settleResponse)
        })
        const answer = yield* Effect.promise(() =>
          wrapFetchWithPayment(fetch, client)(
            `${url}/api/witness`,
            post({ commitment: newCommitment() }, { "idempotency-key": newKey() }),
          ),
        )
        assert.strictEqual(answer.status, 201)
        const read = yield* Effect.promise(() => new x402HTTPClient(client).processResponse(answer))
        assert.include(read, { status: 201, paymentStatus: "settled" })
        assert.deepStrictEqual(told, [read.header])
        assert.isDefined(extractReceiptFromResponse(answer))
      }),
    )

    it.effect("keeps its header below 4 KB where host, path, query and key are as long as they may be", () =>
      Effect.gen(function* () {
        const publicUrl = `https://${"a".repeat(63)}.${"b".repeat(63)}.example`
        const key = keyNamed("k".repeat(64))
        const config = yield* configOf({}, { publicUrl, receipts: { current: key, retired: [] } })
        yield* Layer.build(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config))))
        const here = `http://127.0.0.1:${config.port}`
        const [spirit, item] = [longest(spiritIds), longest(items)]
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
      }),
    )

    it.effect("keeps its receipt valid after a rotation, and a forged one is refused", () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
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

        const rotated = yield* configOf({}, { publicUrl: url, receipts: { current: second, retired: [first] } })
        yield* Layer.build(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, rotated))))
        const document = yield* ask(`http://127.0.0.1:${rotated.port}/.well-known/did.json`)
        const { assertionMethod, id, verificationMethod } = JSON.parse(document.text)
        assert.strictEqual(document.headers.get("content-type"), "application/did+json")
        assert.strictEqual(document.headers.get("access-control-allow-origin"), "*")
        assert.strictEqual(id, didOf(url))
        assert.deepStrictEqual(assertionMethod, [`${id}#receipts-2`])
        const old = verificationMethod.find((one: { id: string }) => one.id === `${id}#receipts-1`)
        const verified = yield* Effect.promise(() => verifyReceiptSignatureJWS(receipt, old.publicKeyJwk))
        assert.deepEqual(verified, claims)
      }),
    )
  },
)

layer(world({}, undefined, { receipts: { current: first, offers: second, retired: [] } }), {
  excludeTestServices: true,
})("a server with a key for offers", (it) => {
  it.effect("signs the offer of a 402 under another key and type than receipts, and the extension verifies it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
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
    }),
  )

  it.effect("answers equal 402s with equal bytes", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const [one, other] = [
        yield* ask(`${url}/api/acquire/dew-spider`, { method: "POST" }),
        yield* ask(`${url}/api/acquire/dew-spider`, { method: "POST" }),
      ]
      assert.strictEqual(one.text, other.text)
    }),
  )
})

layer(world(), { excludeTestServices: true })("a server without a receipt key", (it) => {
  it.effect("answers as before, and publishes no keys", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() })
      const settled = JSON.parse(Buffer.from(answer.headers.get("payment-response") ?? "", "base64").toString())
      assert.hasAllKeys(settled, ["success", "transaction", "network", "payer"])
      assert.strictEqual((yield* ask(`${url}/.well-known/did.json`)).status, 404)
    }),
  )

  it.effect("reads its keys as the command writes them", () =>
    Effect.sync(() => {
      const text = Result.getOrThrow(generate("receipts-1"))
      assert.match(Redacted.value(text), /^PRIVATE\+KEY\+receipts-1\+/u)
      const vkey = Result.getOrThrow(fromText(text)).vkey
      assert.match(vkey, /^receipts-1\+[0-9a-f]{8}\+/u)
      assert.lengthOf(Result.getOrThrow(plainFrom(text)).publicKey, 32)
    }),
  )
})
