/** The meaning of a facilitator's answers at `/supported` and to a settlement, and of a failed connection. */
import { generateKeyPairSync, verify } from "node:crypto"
import { assert, describe, it } from "../lab/It.ts"
import { validatePaymentIdentifierRequirement } from "@x402/extensions/payment-identifier"
import { Context, Duration, Effect, Layer, Logger, Option, Redacted, Result } from "effect"
import * as JsonClient from "../../src/http/JsonClient.ts"
import { Settlement } from "../../src/payments/x402/settle/Settlement.ts"
import * as Facilitator from "../../src/payments/x402/settle/Facilitator.ts"
import { json, listening, type Reply, serve } from "../lab/proxy/HttpServer.ts"
import { freePort } from "../lab/Ports.ts"
import { lasting, terms } from "../lab/TransferLogs.ts"

const { network } = terms
const kind = { x402Version: 2, scheme: "exact", network }
const listing = (...kinds: ReadonlyArray<unknown>) => json({ kinds, extensions: [], signers: {} })

// 64 bytes of Ed25519: an unknown key.
const key = { id: "a-key", secret: Redacted.make(Buffer.alloc(64, 7).toString("base64")) }

describe.concurrent("a facilitator's list of supported payments", () => {
  const answers: ReadonlyArray<readonly [what: string, reply: Reply, says: RegExp | undefined]> = [
    ["exact payments of version 2 on our network", listing("nonsense", { ...kind, extra: {} }), undefined],
    ["our network in version 1 alone", listing({ ...kind, x402Version: 1 }), /does not settle/u],
    ["another scheme", listing({ ...kind, scheme: "upto" }), /does not settle/u],
    ["another network", listing({ ...kind, network: "eip155:8453" }), /does not settle/u],
    ["nothing", listing(), /does not settle/u],
    ["something else", { status: 200, body: "<html>" }, /lists no kinds of payment/u],
    ["404", json({ error: "not found" }, 404), /answers 404/u],
    ["a failure that lists our kind", { ...Object(listing(kind)), status: 500 }, /answers 500/u],
    [
      "an address elsewhere",
      { status: 308, body: "", headers: { location: "https://elsewhere.example/base/supported?secret=1#x" } },
      /answers 308 at \/supported, which leads to https:\/\/elsewhere\.example\/base\/supported\. Set FACILITATOR_URL/u,
    ],
  ]
  for (const [what, reply, says] of answers) {
    it.live(`is requested with a token for this call: ${what}`, function* () {
      const asked: Array<string> = []
      const url = yield* serve(async (path, body, { headers, method }) => {
        const token = String(headers["authorization"]).replace(/^Bearer /u, "")
        const { uris } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())
        asked.push(`${method} ${path} ${body}${uris}`)
        return reply
      })
      const ask = yield* Facilitator.supported({ url: `${url}/base/`, key: Option.some(key) }, network)
      const found = yield* Effect.result(ask)
      const { host } = new URL(url)
      assert.deepStrictEqual(asked, [`GET /base/supported GET ${host}/base/supported`])
      assert.strictEqual(Result.isSuccess(found), says === undefined)
      if (Result.isFailure(found)) assert.match(String(Object(found.failure).message), says ?? /never/u)
    })
  }
})

/** Settles at this address, by this key; nothing here asks its node. */
const settlingAt = (url: string, by = Option.none<typeof key>()) => {
  const settlement = Facilitator.layer({ url, key: by, terms, timeout: Duration.minutes(1) })
  return Effect.map(Layer.build(settlement), Context.get(Settlement))
}

describe("a token for a facilitator", () => {
  const ed25519 = generateKeyPairSync("ed25519")
  const { d = "", x = "" } = ed25519.privateKey.export({ format: "jwk" })
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const bytes = Buffer.concat([d, x].map((half) => Buffer.from(half, "base64url"))).toString("base64")
  const pem = String(ec.privateKey.export({ format: "pem", type: "sec1" }))
  it.live.each([
    ["EdDSA", bytes, ed25519.publicKey, null],
    ["ES256", pem, ec.publicKey, "sha256"],
  ] as const)("is signed by the operator's key for one call and two minutes: %s", ([alg, secret, publicKey, digest]) =>
    Effect.gen(function* () {
      const at = {
        url: "https://facilitator.example",
        key: Option.some({ id: "a-key", secret: Redacted.make(secret) }),
      }
      const call = yield* Facilitator.authorizationOf(at, "POST", new URL("https://facilitator.example/base/settle?q"))
      const [head = "", body = "", signature = ""] = (call["authorization"] ?? "").replace("Bearer ", "").split(".")
      const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString())
      assert.deepInclude(read(head), { alg, kid: "a-key", typ: "JWT" })
      const { exp, nbf, ...claims } = read(body)
      assert.deepStrictEqual(claims, { iss: "cdp", sub: "a-key", uris: ["POST facilitator.example/base/settle"] })
      assert.strictEqual(exp - nbf, 120)
      assert.isAtMost(Math.abs(Date.now() / 1000 - nbf), 60)
      const by = { key: publicKey, dsaEncoding: "ieee-p1363" } as const
      assert.isTrue(verify(digest, Buffer.from(`${head}.${body}`), by, Buffer.from(signature, "base64url")))
    }),
  )
})

describe.concurrent("the knowledge whether a facilitator settles", () => {
  it.live("is fetched once for all concurrent callers, and cached", function* () {
    let questions = 0
    const url = yield* serve(async () => {
      questions += 1
      return listing(kind)
    })
    const { funds, obstacle } = yield* settlingAt(url)
    const all = yield* Effect.forEach(Array.from({ length: 50 }), () => obstacle, { concurrency: "unbounded" })
    assert.deepStrictEqual(new Set(all), new Set([undefined]))
    assert.strictEqual(yield* funds, "ok")
    assert.strictEqual(questions, 1)
  })

  it.live("is missing while the facilitator limits requests, and sales continue", function* () {
    const { funds, obstacle } = yield* settlingAt(yield* serve(async () => json({ error: "slow down" }, 429)))
    assert.deepStrictEqual([yield* funds, yield* obstacle], ["unknown", undefined])
  })

  it.live("is negative with a key that cannot sign", function* () {
    const broken = { id: "a-key", secret: Redacted.make("-----BEGIN nonsense") }
    const { funds } = yield* settlingAt(yield* serve(async () => listing(kind)), Option.some(broken))
    assert.strictEqual(yield* funds, "failing")
  })
})

const offer = { amountAtomic: 10_000n, url: "https://altar.example/api/witness", description: "A stone" }

const submit = (url: string) =>
  Effect.flatMap(settlingAt(url), (settlement) =>
    settlement.submit({
      attempt: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
      payment: {
        rail: "x402",
        network: terms.network,
        authorization: lasting,
        fromBlock: 0n,
        transaction: Option.none(),
      },
      offer,
    }),
  )

describe.concurrent("a settlement call", () => {
  const transaction = `0x${"ab".repeat(32)}` as const
  const no = (errorReason: string, hash = "") => json({ success: false, errorReason, transaction: hash, network })
  const yes = (hash: string) => json({ success: true, transaction: hash, network })
  const unclear = (reason: string, named = Option.none<string>()) => ({ _tag: "Unclear", reason, transaction: named })
  const used = "invalid_exact_evm_nonce_already_used"
  it.live.each<readonly [what: string, reply: Reply, means: object]>([
    ["a transaction", yes(transaction), { _tag: "Submitted", transaction }],
    ["it in capitals", yes(`0x${"AB".repeat(32)}`), { _tag: "Submitted", transaction }],
    ["a success without it", yes("0x1"), unclear("facilitator_gave_no_reason")],
    ["a refusal", no("insufficient_funds"), unclear("insufficient_funds")],
    [
      "a refusal with one",
      no("insufficient_funds", transaction),
      unclear("insufficient_funds", Option.some(transaction)),
    ],
    ["a doubtful refusal", no(used), unclear(used)],
    ["garbage", { status: 200, body: "<html>" }, unclear("facilitator_nonsense")],
    ["500", json({ error: "internal" }, 500), unclear("facilitator_nonsense")],
  ])("that is answered with %s", function* ([, reply, means]) {
    assert.deepEqual<object>(yield* submit(yield* serve(async () => reply)), means)
  })

  it.live("carries an identifier, as the offer demands of a payment", function* () {
    const sent: Array<string> = []
    yield* submit(
      yield* serve(async (_, body) => {
        sent.push(body)
        return yes(transaction)
      }),
    )
    const { paymentPayload } = JSON.parse(sent[0] ?? "")
    assert.deepInclude(validatePaymentIdentifierRequirement(paymentPayload, true), { valid: true })
  })

  it.live("that is redirected is unclear, and the log names status and target", function* () {
    const lines: Array<string> = []
    const logger = Logger.make((options) => void lines.push(Logger.formatJson.log(options)))
    const location = "https://elsewhere.example/settle?secret=1"
    const url = yield* serve(async () => ({ status: 308, body: "", headers: { location } }))
    const submission = yield* Effect.provide(submit(url), Logger.layer([logger]))
    assert.strictEqual(submission._tag, "Unclear")
    assert.match(
      lines.join("\n"),
      /answers 308 at \/settle, which leads to https:\/\/elsewhere\.example\/settle\. Set/u,
    )
    assert.notInclude(lines.join("\n"), "secret=1")
  })

  it.live.each(["verify", "settle"])("is checked at /%s by a request that pays nothing", function* (path) {
    const moved: Reply = { status: 308, body: "", headers: { location: `https://elsewhere.example/${path}` } }
    const url = yield* serve(async (at, body) => (at === `/${path}` && body === "{}" ? moved : json({}, 400)))
    const { message } = yield* Effect.flip(Facilitator.unredirected({ url, key: Option.none() }))
    assert.match(String(message), new RegExp(`answers 308 at /${path}, which leads to https://elsewhere`, "u"))
    const still = yield* serve(async () => json({ error: "no payment" }, 400))
    yield* Facilitator.unredirected({ url: still, key: Option.none() })
  })

  it.live("was not received where no connection was made, be it refused, unresolved or without TLS", function* () {
    const nobody = yield* freePort
    const plain = yield* listening((_, response) => response.destroy())
    for (const url of [`http://127.0.0.1:${nobody}`, "http://facilitator.invalid", plain.replace("http:", "https:")]) {
      assert.deepStrictEqual(yield* submit(url), { _tag: "Refused", reason: "facilitator_unreachable" }, url)
    }
  })

  it.live("may have been received once a byte of it was written", function* () {
    const url = yield* listening((_, response) => response.destroy())
    assert.strictEqual((yield* submit(url))._tag, "Unclear")
    const post = yield* JsonClient.make(new URL(url))
    const failed = yield* Effect.flip(post({ text: "{}" }))
    assert.deepInclude(failed, { _tag: "ConnectionFailed", isUnsent: false })
  })
})
