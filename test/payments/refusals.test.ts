/** Every payment that does not fit is refused with its reason, charges nothing and leaves nothing behind. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type Answer, ask, layer as world, newCommitment, newKey, newPayer, post } from "../lab/Fixture.ts"
import { type Authorization, challengeOf, encode, type Offer, type Payment, sign } from "../lab/buyer/Payment.ts"
import { written } from "../lab/buyer/Purchase.ts"
import { assert, suite } from "../lab/Suites.ts"

const other = "0x00000000000000000000000000000000000000aa"

interface Change {
  /** Changes the signed authorization before it is signed. */
  readonly authorization?: () => Partial<Authorization>
  /** Changes the offer that is signed and echoed. */
  readonly offer?: Partial<Offer>
  /** Changes the payload after it was signed. */
  readonly payload?: (payment: Payment) => object
  readonly header?: (header: string) => string
  /** The payer's balance. */
  readonly funds?: bigint
}

const seconds = () => Math.floor(Date.now() / 1000)

const at = (change: (url: string) => string): Change => ({
  payload: (p) => ({ ...p, resource: { url: change(p.resource.url) } }),
})
const signature = (text: string | null): Change => ({
  payload: (p) => ({ ...p, payload: { ...p.payload, signature: text } }),
})
const named = (change: Partial<Authorization>): Change => ({ authorization: () => change })
const lives = (from: number, to: number): Change => ({
  authorization: () => ({ validAfter: String(from && seconds() + from), validBefore: String(seconds() + to) }),
})
const header = (text: string): Change => ({ header: () => text })

const exact = (reason: string) => `invalid_exact_evm_${reason}`
const [requirements, payload] = ["invalid_payment_requirements", "invalid_payload"]
const [lifetime, unsigned] = [exact("payload_authorization_valid_before"), exact("signature")]

/** The reason of a 402 `payment_invalid`; absent where the header is no header. */
const cases: ReadonlyArray<readonly [name: string, reason: string | undefined, change: Change]> = [
  ["another URL", "resource_url_mismatch", at((url) => url.replace("witness", "acquire/moss-hare"))],
  ["another host", "resource_url_mismatch", at((url) => url.replace("127.0.0.1", "altar.example"))],
  ["no resource", payload, { payload: ({ resource: _, ...p }) => p }],
  ["another amount offered", requirements, { offer: { amount: "9999" } }],
  ["another amount signed", exact("payload_authorization_value_mismatch"), named({ value: "10001" })],
  ["another recipient offered", requirements, { offer: { payTo: other } }],
  ["another recipient signed", exact("recipient_mismatch"), named({ to: other })],
  ["another network", "invalid_network", { offer: { network: "eip155:8453" } }],
  [
    "another chain id in the signature alone",
    unsigned,
    {
      offer: { network: "eip155:1" },
      payload: (p) => ({ ...p, accepted: { ...p.accepted, network: "eip155:84532" } }),
    },
  ],
  ["another asset", requirements, { offer: { asset: other } }],
  ["another scheme", "unsupported_scheme", { offer: { scheme: "upto" } }],
  ["version 1", "invalid_x402_version", { payload: (p) => ({ ...p, x402Version: 1 }) }],
  ["another wallet's authorization", unsigned, named({ from: privateKeyToAccount(generatePrivateKey()).address })],
  [
    "a field changed after signing",
    unsigned,
    {
      payload: ({ payload: { authorization, ...rest }, ...p }) => ({
        ...p,
        payload: { ...rest, authorization: { ...authorization, validAfter: "1" } },
      }),
    },
  ],
  ["an empty signature", payload, signature("0x")],
  ["a signature that is null", payload, signature(null)],
  ["a garbage EIP-6492 wrapper", unsigned, signature(`0x${"ab".repeat(40)}${"6492".repeat(16)}`)],
  ["an expired authorization", lifetime, lives(0, -1)],
  ["an authorization above the maximum lifetime with clock tolerance", lifetime, lives(0, 300 + 300 + 60)],
  ["an authorization without an end", lifetime, named({ validBefore: (2n ** 256n - 1n).toString() })],
  ["an authorization that begins later", exact("payload_authorization_valid_after"), lives(100, 200)],
  ["a payer without funds", exact("insufficient_balance"), { funds: 9_999n }],
  ["text that is not base64", payload, header("%%%")],
  ["base64 that is not JSON", payload, header("aGVsbG8=")],
  [
    "base64url",
    payload,
    { header: (text) => Buffer.from(`${Buffer.from(text, "base64").toString()}???>>>`).toString("base64url") },
  ],
  ["an empty header", payload, header("")],
  ["a header of 17 KiB", undefined, header("A".repeat(17 * 1024))],
]

suite("a payment with one fault", world(), (it) => {
  for (const [name, reason, change] of cases) {
    it(`is refused: ${name}`, function* ({ url }) {
      const payer = yield* newPayer(change.funds)
      const before = yield* written
      const body = { commitment: newCommitment() }
      const key = newKey()
      const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key })))
      const offer = { ...challenge.accepts[0], ...change.offer }
      const payment = yield* sign(payer, offer, challenge.resource, change.authorization?.())
      const plain = encode(change.payload?.(payment) ?? payment)
      const answer: Answer = yield* ask(
        `${url}/api/witness`,
        post(body, { "idempotency-key": key, "payment-signature": change.header?.(plain) ?? plain }),
      )
      const expected = reason === undefined ? [400, "bad_request"] : [402, "payment_invalid"]
      assert.deepStrictEqual([answer.status, answer.json["code"]], expected, answer.text)
      if (reason !== undefined) {
        assert.strictEqual(answer.json["reason"], reason)
        assert.strictEqual(challengeOf(answer).accepts[0].amount, "10000")
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      }
      // What its wallet did not sign cannot have paid; of the others the server does not know.
      const end = reason === unsigned ? /\bNothing was charged\.$/u : /\bThis request charged nothing\.$/u
      assert.match(String(answer.json["message"]), end)
      assert.deepStrictEqual(yield* written, before)
    })
  }
})
