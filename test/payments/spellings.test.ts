/** Payments as wallets and clients spell them: exact ones settle, and a refusal names the member at fault. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hex } from "viem"
import { parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem"
import { ask, newCommitment, newKey, newPayer, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { challengeOf, encode, type Payment, sign } from "../lab/buyer/Payment.ts"
import { assertAnswer } from "../lab/Assertions.ts"

type Change = (payment: Payment) => object
type Members = Readonly<Record<string, unknown>>

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const signed =
  (change: (signature: Hex) => string): Change =>
  (p) => ({
    ...p,
    payload: { ...p.payload, signature: change(p.payload.signature as Hex) },
  })
const authorized =
  (change: (members: Members) => Members): Change =>
  (p) => ({
    ...p,
    payload: { ...p.payload, authorization: { ...p.payload.authorization, ...change({ ...p.payload.authorization }) } },
  })
const accepted =
  (change: (members: Members) => Members): Change =>
  (p) => ({
    ...p,
    accepted: { ...p.accepted, ...change({ ...p.accepted }) },
  })
const resource =
  (value: unknown): Change =>
  (p) => ({ ...p, resource: value })
const bare = (value: unknown) => String(value).replace(/^0x/u, "")
const parity = (signature: Hex) => (signature.endsWith("1c") ? "01" : "00")
const compact = (signature: Hex) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
const high = (signature: Hex) =>
  `${signature.slice(0, 66)}${(order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0")}${signature.endsWith("1b") ? "1c" : "1b"}`

/** Sends a stone with a changed payload or header. */
const send = Effect.fnUntraced(function* (url: string, change: Change, header = (text: string) => text) {
  const body = { commitment: newCommitment() }
  const key = newKey()
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key })))
  const payment = yield* sign(yield* newPayer(), challenge.accepts[0], challenge.resource)
  const headers = { "idempotency-key": key, "payment-signature": header(encode(change(payment))) }
  return yield* ask(`${url}/api/witness`, post(body, headers))
})

const same: Change = (p) => p

const exact: ReadonlyArray<readonly [string, Change, ((text: string) => string)?]> = [
  ["v of 0 or 1", signed((one) => `${one.slice(0, 130)}${parity(one)}` as Hex)],
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
  ["a header without padding", same, (text) => text.replace(/=+$/u, "")],
  [
    "a header in base64url",
    (p) => ({ ...p, note: "???>>>\u00ff" }),
    (text) => Buffer.from(text, "base64").toString("base64url"),
  ],
]

const wrong: ReadonlyArray<readonly [string, Change, RegExp, ((text: string) => string)?]> = [
  ["no resource", resource(undefined), /^resource\.url must be present/u],
  ["a resource that is null", resource(null), /^resource\.url must be a JSON object/u],
  ["a resource that is a string", resource("http://127.0.0.1/api/witness"), /^resource\.url must be a JSON object/u],
  ["a resource without URL", resource({ description: "a stone" }), /^resource\.url must be present/u],
  ["another URL", resource({ url: "https://altar.example" }), /^resource\.url must be http/u],
  ["a value with a fraction", authorized(() => ({ value: 1.5 })), /^payload\.authorization\.value must be a string/u],
  ["a negative time", authorized(() => ({ validAfter: -1 })), /^payload\.authorization\.validAfter must be/u],
  [
    "a time that is a date",
    authorized(() => ({ validBefore: "tomorrow" })),
    /^payload\.authorization\.validBefore must be/u,
  ],
  ["another amount", accepted(() => ({ amount: 9_999 })), /^accepted\.amount must be 10000/u],
  ["no nonce", authorized(() => ({ nonce: undefined })), /^payload\.authorization\.nonce must be present/u],
  [
    "half a nonce",
    authorized(({ nonce }) => ({ nonce: String(nonce).slice(0, 34) })),
    /^payload\.authorization\.nonce must be/u,
  ],
  ["no payload", ({ payload: _, ...p }) => p, /^payload must be present/u],
  ["no signature", signed(() => "none"), /^payload\.signature must be/u],
  ["an upper s", signed(high), /^payload\.signature has its s above half/u],
  ["two header lines", same, /^PAYMENT-SIGNATURE was sent in two header lines/u, (text) => `${text}, ${text}`],
  ["a list", () => [], /^PAYMENT-SIGNATURE must be a JSON object/u],
  ["no base64", same, /^PAYMENT-SIGNATURE must be base64/u, () => "%%%"],
  ["x402Version as a string", (p) => ({ ...p, x402Version: "2" }), /^x402Version must be 2/u],
]

layer(world(), realClock)("a payment with", (it) => {
  it.effect.each(exact)("%s settles", ([, change, header]) =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const answer = yield* send(url, change, header)
      assert.strictEqual(answer.status, 201, answer.text)
    }),
  )

  it.effect.each(wrong)("%s is refused by the name of its member", ([, change, says, header]) =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const answer = yield* send(url, change, header)
      assertAnswer(answer, 402, "payment_invalid")
      const message = String(answer.json["message"])
      assert.match(message, says)
      assert.strictEqual(answer.json["member"], message.split(" ")[0])
      assert.include(Object(challengeOf(answer)).error, message.slice(0, 60))
    }),
  )

  for (const [what, life] of [
    ["that begins in the future", [100, 200]],
    ["that has ended", [0, -1]],
    ["that is too long", [0, 700]],
  ] as const)
    it.effect(`a window ${what} is refused with the server's time`, () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const now = Math.floor(Date.now() / 1000)
        const challenge = challengeOf(yield* ask(`${url}/api/witness`, { method: "POST" }))
        const [from, to] = life
        const window = { validAfter: String(from && now + from), validBefore: String(now + to) }
        const payment = yield* sign(yield* newPayer(), challenge.accepts[0], challenge.resource, window)
        const headers = { "idempotency-key": newKey(), "payment-signature": encode(payment) }
        const answer = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, headers))
        assertAnswer(answer, 402, "payment_invalid")
        const said = /Check your clock: the server's says \S+Z \((\d+)\)/u
        for (const text of [String(answer.json["message"]), Object(challengeOf(answer)).error])
          assert.closeTo(Number(said.exec(text)?.[1]), now, 30, text)
      }),
    )
})
