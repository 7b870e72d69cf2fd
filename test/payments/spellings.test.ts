/** Payments as wallets and clients spell them: exact ones settle; others are refused, with the reason and the member at fault. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import type { Hex } from "viem"
import { parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { ask, newCommitment, newKey, newPayer, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { type Authorization, challengeOf, encode, type Offer, type Payment, sign } from "../lab/buyer/Payment.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { written } from "../lab/buyer/Purchase.ts"

interface Change {
  /** Changes the authorization before it is signed. */
  readonly authorization?: () => Partial<Authorization>
  /** Changes the offer that is signed and echoed. */
  readonly offer?: Partial<Offer>
  /** Changes the payment after it was signed. */
  readonly payload?: (payment: Payment) => object
  readonly header?: (header: string) => string
  readonly funds?: bigint
}

type Members = Readonly<Record<string, unknown>>

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const seconds = () => Math.floor(Date.now() / 1000)

const signed = (change: (signature: Hex) => unknown): Change => ({
  payload: (p) => ({ ...p, payload: { ...p.payload, signature: change(p.payload.signature) } }),
})
const authorized = (change: (members: Members) => Members): Change => ({
  payload: ({ payload: { authorization, signature }, ...p }) => ({
    ...p,
    payload: { signature, authorization: { ...authorization, ...change({ ...authorization }) } },
  }),
})
const accepted = (change: (members: Members) => Members): Change => ({
  payload: (p) => ({ ...p, accepted: { ...p.accepted, ...change({ ...p.accepted }) } }),
})
const resource = (value: unknown): Change => ({ payload: (p) => ({ ...p, resource: value }) })
const at = (change: (url: string) => string): Change => ({
  payload: (p) => ({ ...p, resource: { url: change(p.resource.url) } }),
})
const version = (x402Version: unknown): Change => ({ payload: (p) => ({ ...p, x402Version }) })
const named = (change: Partial<Authorization>): Change => ({ authorization: () => change })
const lives = (from: number, to: number): Change => ({
  authorization: () => ({ validAfter: String(from && seconds() + from), validBefore: String(seconds() + to) }),
})
const header = (change: (text: string) => string): Change => ({ header: change })

const bare = (value: unknown) => String(value).replace(/^0x/u, "")
const parity = (signature: Hex) => (signature.endsWith("1c") ? "01" : "00")
const compact = (signature: Hex) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
const high = (signature: Hex) =>
  `${signature.slice(0, 66)}${(order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0")}${signature.endsWith("1b") ? "1c" : "1b"}`

const upper = signed(high)

/** Sends a stone with a changed payment. */
const send = Effect.fnUntraced(function* (change: Change) {
  const { url } = yield* TestServer
  const body = { commitment: newCommitment() }
  const key = newKey()
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key })))
  const offer = { ...challenge.accepts[0], ...change.offer }
  const payment = yield* sign(yield* newPayer(change.funds), offer, challenge.resource, change.authorization?.())
  const plain = encode(change.payload?.(payment) ?? payment)
  const headers = { "idempotency-key": key, "payment-signature": change.header?.(plain) ?? plain }
  return yield* ask(`${url}/api/witness`, post(body, headers))
})

const exact: ReadonlyArray<readonly [string, Change]> = [
  ["v of 0 or 1", signed((one) => `${one.slice(0, 130)}${parity(one)}`)],
  ["a compact signature (EIP-2098)", signed(compact)],
  ["a signature in capitals", signed((one) => `0x${one.slice(2).toUpperCase()}`)],
  ["a signature without 0x", signed(bare)],
  [
    "numbers in its authorization",
    authorized(({ validBefore }) => ({ value: 10_000, validAfter: 0, validBefore: Number(validBefore) })),
  ],
  ["a number as accepted.amount", accepted(() => ({ amount: 10_000 }))],
  [
    "addresses and a nonce without 0x",
    authorized(({ from, nonce, to }) => ({ from: bare(from), nonce: bare(nonce), to: bare(to) })),
  ],
  ["asset and payTo without 0x", accepted(({ asset, payTo }) => ({ asset: bare(asset), payTo: bare(payTo) }))],
  ["a header without padding", header((text) => text.replace(/=+$/u, ""))],
  [
    "a header in base64url",
    {
      payload: (p) => ({ ...p, note: "???>>>\u00ff" }),
      header: (text) => Buffer.from(text, "base64").toString("base64url"),
    },
  ],
]

const exactly = (reason: string) => `invalid_exact_evm_${reason}`
const [requirements, payload, mismatch] = ["invalid_payment_requirements", "invalid_payload", "resource_url_mismatch"]
const lifetime = exactly("payload_authorization_valid_before")
const begin = exactly("payload_authorization_valid_after")
const unsigned = exactly("signature")

/** The reason of each refusal, and its message, which begins with the member. */
const wrong: ReadonlyArray<readonly [name: string, reason: string, change: Change, says?: RegExp]> = [
  ["another URL", mismatch, at((url) => url.replace("witness", "acquire/moss-hare")), /^resource\.url must be http/u],
  ["no resource", payload, resource(undefined), /^resource\.url must be present/u],
  ["a resource that is null", payload, resource(null), /^resource\.url must be a JSON object/u],
  ["a resource that is a string", payload, resource("http://127.0.0.1"), /^resource\.url must be a JSON object/u],
  ["a resource without URL", payload, resource({ description: "a stone" }), /^resource\.url must be present/u],
  ["another amount offered", requirements, { offer: { amount: "9999" } }, /^accepted\.amount must be 10000/u],
  [
    "a value with a fraction",
    payload,
    authorized(() => ({ value: 1.5 })),
    /^payload\.authorization\.value must be a string/u,
  ],
  [
    "another chain id in the signature alone",
    unsigned,
    { offer: { network: "eip155:1" }, ...accepted(() => ({ network: "eip155:84532" })) },
  ],
  ["version 1", "invalid_x402_version", version(1)],
  ["version 3", "invalid_x402_version", version(3)],
  ["x402Version as a string", "invalid_x402_version", version("2"), /^x402Version must be 2/u],
  ["no payload", payload, { payload: ({ payload: _, ...p }) => p }, /^payload must be present/u],
  ["another wallet's authorization", unsigned, named({ from: privateKeyToAccount(generatePrivateKey()).address })],
  ["a field changed after signing", unsigned, authorized(() => ({ validAfter: "1" }))],
  ["an empty signature", payload, signed(() => "0x")],
  ["a signature that is null", payload, signed(() => null)],
  ["no signature", payload, signed(() => "none"), /^payload\.signature must be/u],
  ["an upper s", unsigned, upper, /^payload\.signature has its s above half/u],
  ["an expired authorization", lifetime, lives(0, -1)],
  ["an authorization above the maximum lifetime with clock tolerance", lifetime, lives(0, 300 + 300 + 60)],
  ["an authorization that begins later", begin, lives(100, 200)],
  ["a negative time", payload, authorized(() => ({ validAfter: -1 })), /^payload\.authorization\.validAfter must be/u],
  [
    "a time that is a date",
    payload,
    authorized(() => ({ validBefore: "tomorrow" })),
    /^payload\.authorization\.validBefore must be/u,
  ],
  ["no nonce", payload, authorized(() => ({ nonce: undefined })), /^payload\.authorization\.nonce must be present/u],
  [
    "half a nonce",
    payload,
    authorized(({ nonce }) => ({ nonce: String(nonce).slice(0, 34) })),
    /^payload\.authorization\.nonce must be/u,
  ],
  ["a payer without funds", exactly("insufficient_balance"), { funds: 9_999n }],
  ["a list for a payment", payload, { payload: () => [] }, /^PAYMENT-SIGNATURE must be a JSON object/u],
  [
    "two header lines",
    payload,
    header((text) => `${text}, ${text}`),
    /^PAYMENT-SIGNATURE was sent in two header lines/u,
  ],
  ["text that is not base64", payload, header(() => "%%%"), /^PAYMENT-SIGNATURE must be base64/u],
  ["base64 that is not JSON", payload, header(() => "aGVsbG8=")],
  ["an empty header", payload, header(() => "")],
]

layer(world(), realClock)("a payment with", (it) => {
  it.effect.each(exact)("%s settles", function* ([, change]) {
    const answer = yield* send(change)
    assert.strictEqual(answer.status, 201, answer.text)
  })

  it.effect.each(wrong)(
    "%s is refused, with its reason and its member, and charges nothing",
    function* ([, reason, change, says]) {
      const before = yield* written
      const answer = yield* send(change)
      const message = String(answer.json["message"])
      assertAnswer(answer, 402, "payment_invalid", reason)
      // Whether the payment has paid or may still pay, such as by code that is deployed later, the server does not know.
      assert.match(message, /\bThis request charged nothing\.$/u)
      assert.deepStrictEqual(yield* written, before)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.isAtMost(answer.headers.get("payment-required")?.length ?? assert.fail(), 1_536)
      assert.isNull(answer.headers.get("payment-response"), "this payment was not submitted")
      const { accepts, error } = Object(challengeOf(answer))
      assert.strictEqual(accepts[0].amount, "10000")
      assert.include(`${reason}: ${message}`, error)
      assert.include(error, message.slice(0, 60))
      if (says !== undefined) {
        assert.match(message, says)
        assert.strictEqual(answer.json["member"], message.split(" ")[0])
      }
      if (reason === lifetime || reason === begin)
        for (const text of [message, error]) {
          const clock = /Check your clock: the server's says \S+Z \((\d+)\)/u.exec(text)?.[1]
          assert.closeTo(Number(clock), seconds(), 30, text)
        }
    },
  )

  it.effect("a header of 17 KiB is refused as a bad request, and charges nothing", function* () {
    const before = yield* written
    const answer = yield* send(header(() => "A".repeat(17 * 1024)))
    assertAnswer(answer, 400, "bad_request")
    assert.match(String(answer.json["message"]), /\bThis request charged nothing\.$/u)
    assert.deepStrictEqual(yield* written, before)
  })
})
