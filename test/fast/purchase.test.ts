/** The parts of a purchase that page, command and library share: the signature, and the meaning of an answer. */
import { toBase64, typedDataOf } from "../../src/buyer/core/Authorization.ts"
import { readChallenge } from "../../src/buyer/core/Challenge.ts"
import { type Expectation, mismatchOf } from "../../src/buyer/core/Expectation.ts"
import { nextStep, readOutcome } from "../../src/buyer/core/Outcome.ts"
import { moveAfter, type PurchaseState, unattended, watched } from "../../src/buyer/core/RetryPolicy.ts"
import { asking, asset, payTo, stoneUrl as url } from "../lab/buyer/Offers.ts"
import { assert, describe, it } from "../lab/Suites.ts"

const challenge = asking()

const expectation: Expectation = {
  isResource: (resource) => resource === url,
  amountAtomic: 10_000n,
  network: "eip155:84532",
  asset,
  payTo,
}

describe("the signed authorization", () => {
  it("has the known payee in any spelling, and needs an address where none is known before", () => {
    assert.isUndefined(mismatchOf(asking({ payTo: payTo.toLowerCase() }), expectation))
    const { payTo: _, ...anybody } = expectation
    assert.isUndefined(mismatchOf(challenge, anybody))
    assert.strictEqual(mismatchOf(asking({ payTo: "somebody" }), anybody)?.kind, "payee")
  })

  it("is based on one form of the header alone", () => {
    assert.deepStrictEqual(readChallenge(toBase64(JSON.stringify(challenge))), challenge)
    const { extra } = challenge.accepts[0]
    const more = { ...challenge, accepts: [{ ...challenge.accepts[0], extra: { ...extra, permit2: "yes" }, tip: "1" }] }
    assert.deepStrictEqual(readChallenge(toBase64(JSON.stringify(more))), challenge)
    const forms = [
      asking({ amount: "1e4" }),
      asking({ amount: "-1" }),
      asking({ amount: "010000" }),
      { ...challenge, accepts: [{ ...challenge.accepts[0], extra: { name: "USDC", version: "2" } }] },
      { ...challenge, accepts: [] },
      { ...challenge, accepts: [...challenge.accepts, ...challenge.accepts] },
      { ...challenge, x402Version: 1 },
      "nothing",
    ]
    for (const form of forms) assert.isUndefined(readChallenge(toBase64(JSON.stringify(form))))
    for (const header of [null, "", "not base64!"]) assert.isUndefined(readChallenge(header))
  })

  it("contains a fresh nonce and the chain of its offer", () => {
    const [one, other] = [typedDataOf(challenge, payTo, 0), typedDataOf(challenge, payTo, 0)]
    assert.strictEqual(one.domain.chainId, 84_532)
    assert.notStrictEqual(one.message.nonce, other.message.nonce)
  })
})

const heard = (status: number, body: object, headers: Record<string, string> = {}) =>
  readOutcome({ status, headers: new Headers(headers), body: { ...body } })

const refusal = (status: number, code: string, more: object = {}) =>
  heard(status, { ok: false, code, message: "No.", ...more })

describe("an answer to a paid request", () => {
  const sent = { by: "send", isSigned: true } as const
  const unsigned = { by: "send", isSigned: false } as const

  it("means settled, pending for a stated time, or a price", () => {
    assert.strictEqual(nextStep(heard(201, { ok: true, record: {}, receipt: {} }), sent).step, "settle")
    for (const half of [{ record: {} }, { receipt: {} }, { record: "a stone", receipt: null }])
      assert.strictEqual(nextStep(heard(201, { ok: true, ...half }), sent).step, "retry")
    const pended = (after: string) => nextStep(heard(202, { ok: true }, { "retry-after": after }), sent)
    assert.deepStrictEqual(pended("7"), { step: "pend", seconds: 7 })
    assert.deepStrictEqual(pended("900"), { step: "pend", seconds: 60 })
    const price = refusal(402, "payment_required", { challenge })
    assert.deepStrictEqual(nextStep(price, unsigned), { step: "sign", challenge })
    assert.strictEqual(nextStep(price, sent).step, "refuse", "no second signature")
  })

  it("means nothing from a server other than the altar", () => {
    for (const [status, body] of [
      [200, {}],
      [403, {}],
      [502, { message: "Bad gateway" }],
      [404, { ok: false }],
      [204, { ok: true }],
    ] as const)
      assert.strictEqual(nextStep(heard(status, body), sent).step, "retry", `${status}`)
    assert.deepInclude(heard(502, { message: "Bad gateway" }), { tag: "silent", status: 502 })
  })

  it("does not end a signed purchase with a fault or a full altar, but with a failed payment", () => {
    for (const [status, code] of [
      [409, "reconcile_required"],
      [429, "rate_limited"],
      [500, "internal"],
      [503, "facilitator_unavailable"],
      [503, "payments_unavailable"],
    ] as const)
      assert.strictEqual(nextStep(refusal(status, code), sent).step, "retry", code)
    assert.strictEqual(nextStep(refusal(503, "payments_unavailable"), unsigned).step, "refuse")
    for (const [status, code] of [
      [409, "idempotency_conflict"],
      [402, "payment_failed"],
    ] as const)
      assert.strictEqual(nextStep(refusal(status, code), sent).step, "refuse", code)
  })

  it("leads to a resubmission of a payment that the altar never received", () => {
    assert.strictEqual(nextStep(refusal(404, "attempt_not_found"), { by: "reconcile", isSigned: true }).step, "send")
    assert.strictEqual(nextStep(refusal(404, "spirit_not_found"), sent).step, "refuse")
  })
})

describe("the loop of a purchase", () => {
  const begun: PurchaseState = { by: "send", isSigned: true, tries: 0 }
  const reconciling: PurchaseState = { ...begun, by: "reconcile" }
  const silence = { tag: "silent", reason: "no answer" } as const
  const settled = heard(200, { ok: true, record: {}, receipt: {} })
  const pending = heard(202, { ok: true }, { "retry-after": "30" })
  const full = refusal(503, "facilitator_unavailable", { retryAfter: 7 })

  const movesUntilEnd = (habits: typeof watched, outcome: typeof silence | typeof pending, most: number) => {
    let [standing, made] = [begun, 0]
    while (made < most) {
      made += 1
      const move = moveAfter(standing, habits, outcome)
      if (move.step !== "ask") return made
      standing = move.next
    }
    return made
  }

  it("ends by a reconciliation on a page, and by the request itself alone in a program", () => {
    assert.strictEqual(moveAfter(reconciling, watched, settled).step, "settle")
    assert.deepInclude(moveAfter(reconciling, unattended, settled), { step: "ask", next: begun, seconds: 0 })
    assert.strictEqual(moveAfter(begun, unattended, settled).step, "settle")
    assert.strictEqual(moveAfter(begun, watched, settled).step, "settle")
  })

  it("waits as long as the altar says, and ten seconds at most while a visitor watches", () => {
    assert.deepInclude(moveAfter(begun, unattended, pending), { step: "ask", seconds: 30, because: undefined })
    assert.deepInclude(moveAfter(begun, watched, pending), { step: "ask", seconds: 0 })
    assert.deepInclude(moveAfter(reconciling, watched, pending), { step: "ask", seconds: 10 })
    assert.deepInclude(moveAfter(begun, watched, silence), { step: "ask", seconds: 2, because: "no answer" })
    assert.deepInclude(moveAfter({ ...begun, tries: 4 }, unattended, silence), { step: "ask", seconds: 5 })
  })

  it("reports a full altar to a watching visitor, and waits for it in a program", () => {
    assert.deepInclude(moveAfter(begun, watched, full), { step: "give-up", isBusy: true })
    assert.deepInclude(moveAfter(reconciling, watched, full), { step: "ask", seconds: 7 })
    assert.deepInclude(moveAfter(begun, unattended, full), { step: "ask", seconds: 7, because: "No." })
  })

  it("gives up after eleven requests without an answer in a program, and after forty on a page", () => {
    assert.strictEqual(movesUntilEnd(unattended, silence, 100), 11)
    assert.strictEqual(movesUntilEnd(unattended, pending, 100), 100)
    assert.strictEqual(movesUntilEnd(watched, silence, 100), 40)
    assert.strictEqual(movesUntilEnd(watched, pending, 100), 40)
    const unsigned: PurchaseState = { ...begun, isSigned: false }
    assert.strictEqual(moveAfter(unsigned, watched, silence).step, "give-up")
    assert.deepInclude(moveAfter(unsigned, unattended, silence), { step: "ask", next: { ...unsigned, tries: 1 } })
  })
})
