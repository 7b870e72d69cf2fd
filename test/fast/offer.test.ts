/** Each way in which a signed payment can differ from the offer, and each window in which it is not valid. */
import { assert, describe, it } from "@effect/vitest"
import type { PaymentPayload } from "../../schema/payments/Payment.ts"
import { requirementsOf } from "../../src/payments/PaymentTerms.ts"
import { longestLife, mismatch, untimely } from "../../src/payments/x402/verify/Offer.ts"
import { lasting, terms } from "../lab/TransferLogs.ts"

const sale = { amountAtomic: 10_000n, url: "https://altar.example/api/witness", description: "A stone" }
const other = "0x00000000000000000000000000000000000000aa"
const signed = {
  from: lasting.from,
  to: terms.payTo,
  value: "10000",
  validAfter: "0",
  validBefore: "1",
  nonce: lasting.nonce,
}
const fits = {
  x402Version: 2,
  resource: { url: sale.url },
  accepted: requirementsOf(terms, sale.amountAtomic),
  payload: { signature: "0x", authorization: signed },
}

const offered = (change: object) => ({ ...fits, accepted: { ...fits.accepted, ...change } })
const signedWith = (change: object) => ({
  ...fits,
  payload: { ...fits.payload, authorization: { ...signed, ...change } },
})
const tooLong = String(2n ** 256n)

const cases = [
  ["fits", fits, undefined],
  ["fits with addresses in capitals", offered({ payTo: `0x${terms.payTo.slice(2).toUpperCase()}` }), undefined],
  ["has another scheme", offered({ scheme: "upto" }), "unsupported_scheme"],
  ["is for another network", offered({ network: "eip155:1" }), "invalid_network"],
  ["is in another token", offered({ asset: other }), "invalid_payment_requirements"],
  ["offers another recipient", offered({ payTo: other }), "invalid_payment_requirements"],
  ["offers less", offered({ amount: "9999" }), "invalid_payment_requirements"],
  ["is for another URL", { ...fits, resource: { url: `${sale.url}?a` } }, "resource_url_mismatch"],
  ["pays another recipient", signedWith({ to: other }), "invalid_exact_evm_recipient_mismatch"],
  ["pays less", signedWith({ value: "9999" }), "invalid_exact_evm_payload_authorization_value_mismatch"],
  ["pays more", signedWith({ value: "10001" }), "invalid_exact_evm_payload_authorization_value_mismatch"],
  ["begins after 256 bits", signedWith({ validAfter: tooLong }), "invalid_payload"],
  ["ends after 256 bits", signedWith({ validBefore: tooLong }), "invalid_payload"],
] as const

describe("a payment that", () => {
  it.each(cases)("%s is matched with the offer", (_, payload, reason) => {
    assert.strictEqual(mismatch(payload as unknown as PaymentPayload, terms, sale)?.reason, reason)
  })
})

describe("an authorization", () => {
  const now = 1_000n
  const [early, late] = [
    "invalid_exact_evm_payload_authorization_valid_after",
    "invalid_exact_evm_payload_authorization_valid_before",
  ]
  it.each([
    [now, now + 6n, undefined],
    [now + 1n, now + 6n, early],
    [0n, now + 5n, late],
    [0n, now + 600n, undefined],
    [0n, now + 601n, late],
  ] as const)("from %s to %s is judged at 1000 seconds", (validAfter, validBefore, reason) => {
    assert.strictEqual(untimely({ ...lasting, validAfter, validBefore }, terms, now)?.reason, reason)
  })

  it("lives at most five minutes longer than its offer asks for", () => {
    assert.strictEqual(longestLife(terms), BigInt(terms.maxTimeoutSeconds) + 300n)
  })
})
