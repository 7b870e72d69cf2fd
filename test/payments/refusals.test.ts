/** Every payment that does not fit is refused with its reason, charges nothing and leaves nothing behind. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type Answer, ask, layer as world, newCommitment, newKey, newPayer, post } from "../lab/Fixture.ts"
import { type Authorization, challengeOf, encode, type Offer, type Payment, sign } from "../lab/buyer/Payment.ts"
import { suite } from "../lab/Suites.ts"

const other = "0x00000000000000000000000000000000000000aa"

interface Case {
  readonly name: string
  /** Of a 402 `payment_invalid`; absent where the header is no header. */
  readonly reason?: string
  /** Changes the signed authorization before it is signed. */
  readonly authorization?: (offer: Offer) => Partial<Authorization>
  /** Changes the offer that is signed and echoed. */
  readonly offer?: (offer: Offer) => Partial<Offer>
  /** Changes the payload after it was signed. */
  readonly payload?: (payment: Payment) => object
  /** Changes the header. */
  readonly header?: (header: string) => string
  /** The payer's balance. */
  readonly funds?: bigint
}

const seconds = () => Math.floor(Date.now() / 1000)

const cases: ReadonlyArray<Case> = [
  {
    name: "another URL",
    reason: "resource_url_mismatch",
    payload: (p) => ({ ...p, resource: { url: p.resource.url.replace("witness", "acquire/moss-hare") } }),
  },
  {
    name: "another query",
    reason: "resource_url_mismatch",
    payload: (p) => ({ ...p, resource: { url: `${p.resource.url}?spirit=moss-hare` } }),
  },
  {
    name: "another host",
    reason: "resource_url_mismatch",
    payload: (p) => ({ ...p, resource: { url: p.resource.url.replace("127.0.0.1", "altar.example") } }),
  },
  { name: "no resource", reason: "invalid_payload", payload: ({ resource: _, ...p }) => p },
  { name: "another amount offered", reason: "invalid_payment_requirements", offer: () => ({ amount: "9999" }) },
  {
    name: "another amount signed",
    reason: "invalid_exact_evm_payload_authorization_value_mismatch",
    authorization: () => ({ value: "10001" }),
  },
  { name: "another recipient offered", reason: "invalid_payment_requirements", offer: () => ({ payTo: other }) },
  {
    name: "another recipient signed",
    reason: "invalid_exact_evm_recipient_mismatch",
    authorization: () => ({ to: other }),
  },
  { name: "another network", reason: "invalid_network", offer: () => ({ network: "eip155:8453" }) },
  {
    name: "another chain id in the signature alone",
    reason: "invalid_exact_evm_signature",
    offer: () => ({ network: "eip155:1" }),
    payload: (p) => ({ ...p, accepted: { ...p.accepted, network: "eip155:84532" } }),
  },
  { name: "another asset", reason: "invalid_payment_requirements", offer: () => ({ asset: other }) },
  { name: "another scheme", reason: "unsupported_scheme", offer: () => ({ scheme: "upto" }) },
  { name: "version 1", reason: "invalid_x402_version", payload: (p) => ({ ...p, x402Version: 1 }) },
  { name: "version 3", reason: "invalid_x402_version", payload: (p) => ({ ...p, x402Version: 3 }) },
  {
    name: "the authorization of another wallet",
    reason: "invalid_exact_evm_signature",
    authorization: () => ({ from: privateKeyToAccount(generatePrivateKey()).address }),
  },
  {
    name: "a field changed after signing",
    reason: "invalid_exact_evm_signature",
    payload: (p) => ({
      ...p,
      payload: { ...p.payload, authorization: { ...p.payload.authorization, validAfter: "1" } },
    }),
  },
  {
    name: "an empty signature",
    reason: "invalid_payload",
    payload: (p) => ({ ...p, payload: { ...p.payload, signature: "0x" } }),
  },
  {
    name: "a short signature",
    reason: "invalid_exact_evm_signature",
    payload: (p) => ({ ...p, payload: { ...p.payload, signature: "0x1234" } }),
  },
  {
    name: "a signature that is null",
    reason: "invalid_payload",
    payload: (p) => ({ ...p, payload: { ...p.payload, signature: null } }),
  },
  {
    name: "a garbage EIP-6492 wrapper",
    reason: "invalid_exact_evm_signature",
    payload: (p) => ({ ...p, payload: { ...p.payload, signature: `0x${"ab".repeat(40)}${"6492".repeat(16)}` } }),
  },
  {
    name: "an expired authorization",
    reason: "invalid_exact_evm_payload_authorization_valid_before",
    authorization: () => ({ validBefore: String(seconds() - 1) }),
  },
  {
    name: "an authorization above the maximum lifetime with clock tolerance",
    reason: "invalid_exact_evm_payload_authorization_valid_before",
    authorization: () => ({ validBefore: String(seconds() + 300 + 300 + 60) }),
  },
  {
    name: "an authorization without an end",
    reason: "invalid_exact_evm_payload_authorization_valid_before",
    authorization: () => ({ validBefore: (2n ** 256n - 1n).toString() }),
  },
  {
    name: "an authorization that begins tomorrow",
    reason: "invalid_exact_evm_payload_authorization_valid_after",
    authorization: () => ({ validAfter: String(seconds() + 100), validBefore: String(seconds() + 200) }),
  },
  { name: "a payer without funds", reason: "invalid_exact_evm_insufficient_balance", funds: 9_999n },
  { name: "text that is not base64", reason: "invalid_payload", header: () => "%%%" },
  { name: "base64 that is not JSON", reason: "invalid_payload", header: () => "aGVsbG8=" },
  {
    name: "base64url",
    reason: "invalid_payload",
    header: (text) => Buffer.from(`${Buffer.from(text, "base64").toString()}???>>>`).toString("base64url"),
  },
  { name: "an empty header", reason: "invalid_payload", header: () => "" },
  { name: "a header of 17 KiB", header: () => "A".repeat(17 * 1024) },
]

/** Payments that their wallet did not sign, which cannot have paid; for the others the server does not know. */
const judged = new Set(["invalid_exact_evm_signature"])

const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT (SELECT count(*) FROM payment_attempts) AS attempts, (SELECT count(*) FROM payment_claims) AS claims,
    (SELECT count(*) FROM payment_pools) AS pools, (SELECT count(*) FROM witness_stones) AS stones`
})

suite("a payment with one fault", world(), (it) => {
  for (const one of cases) {
    it(`is refused: ${one.name}`, function* ({ url }) {
      const payer = yield* newPayer(one.funds)
      const before = yield* everything
      const body = { commitment: newCommitment() }
      const key = newKey()
      const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key })))
      const offer = { ...challenge.accepts[0], ...one.offer?.(challenge.accepts[0]) }
      const payment = yield* sign(payer, offer, challenge.resource, one.authorization?.(offer))
      const plain = encode(one.payload?.(payment) ?? payment)
      const answer: Answer = yield* ask(
        `${url}/api/witness`,
        post(body, { "idempotency-key": key, "payment-signature": one.header?.(plain) ?? plain }),
      )
      const expected = one.reason === undefined ? [400, "bad_request"] : [402, "payment_invalid"]
      assert.deepStrictEqual([answer.status, answer.json["code"]], expected, answer.text)
      if (one.reason !== undefined) {
        assert.strictEqual(answer.json["reason"], one.reason)
        assert.strictEqual(challengeOf(answer).accepts[0].amount, "10000")
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      }
      const isJudged = one.reason !== undefined && judged.has(one.reason)
      assert.match(
        String(answer.json["message"]),
        isJudged ? /\bNothing was charged\.$/u : /\bThis request charged nothing\.$/u,
      )
      assert.deepStrictEqual(yield* everything, before)
    })
  }
})
