/** The library signs within its policy and the limit of a day, for known payees, and nothing beside what may still be used. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { buyer, type Progress } from "../../src/buyer/index.ts"
import { authorizationsUsed, buyerOf, type Network, rejection, newCustomer } from "../lab/buyer/LibraryBuyer.ts"
import type { Offer } from "../lab/buyer/Payment.ts"
import { today } from "../lab/Clock.ts"
import { newKey, realClock, world } from "../lab/Fixture.ts"

const words = "The heron will return by May."

const stranger = "0x000000000000000000000000000000000000dEaD"

const offering =
  (change: Partial<Record<keyof Offer, unknown>>): Network =>
  async (request, forward) => {
    const response = await forward(request)
    if (response.status !== 402) return response
    const { challenge, ...body } = await response.json()
    const lie = { ...challenge, accepts: [{ ...challenge.accepts[0], ...change }] }
    const headers = new Headers(response.headers)
    headers.delete("content-length")
    headers.set("payment-required", Buffer.from(JSON.stringify(lie)).toString("base64"))
    return new Response(JSON.stringify({ ...body, challenge: lie }), { status: 402, headers })
  }

layer(world(), realClock)("the buyer library", (it) => {
  it.effect("reports a failed payment, never signs for its key again, and counts it for the day's limit", function* () {
    yield* today
    const at = yield* newCustomer(0n)
    const altar = buyerOf(at, undefined, { policy: { maxPerDay: 10_000n } })
    const key = newKey()
    for (const _ of ["first", "again"]) {
      const poor = yield* rejection(altar.witness({ words, key }))
      assert.deepStrictEqual([poor._tag, poor.code], ["Refused", "payment_invalid"])
    }
    // Only the altar says that it failed, and a lying one still has the signature.
    assert.strictEqual((yield* rejection(altar.witness({ words }))).code, "above_day_limit")
    assert.match((yield* rejection(altar.forget(key))).message, /its failed payment could still be used/u)
    assert.deepStrictEqual([at.counted.signatures, new Set(at.handedIn).size], [1, 1])
  })

  it.effect("signs nothing beside a failed authorization until it expires, whatever the altar says", function* () {
    const at = yield* newCustomer()
    let first = ""
    const early: Network = async (request, forward) => {
      const payment = request.headers.get("payment-signature")
      if (payment === null && first === "") return offering({ maxTimeoutSeconds: 3 })(request, forward)
      if (payment === null || first !== "") return forward(request)
      first = payment
      const body = { ok: false, code: "payment_failed", message: "It was not charged.", reason: "expired" }
      return Response.json({ ...body, authorizationOpenUntil: new Date(0).toISOString() }, { status: 402 })
    }
    const steps: Array<string> = []
    const onProgress = ({ step }: Progress) => void steps.push(step === "signed" ? `signed ${Date.now()}` : step)
    const altar = buyerOf(at, early, { onProgress })
    assert.strictEqual((yield* rejection(altar.witness({ words }))).code, "payment_failed")
    yield* Effect.promise(() => altar.witness({ words }))
    const [, waited, signed = ""] = steps
    assert.strictEqual(waited, "waiting")
    const { validBefore } = JSON.parse(Buffer.from(first, "base64").toString()).payload.authorization
    assert.isAtLeast(Number(signed.slice("signed ".length)), Number(validBefore) * 1000)
  })

  it.effect("counts a day over restarts, and a repeated key once", function* () {
    yield* today
    const at = yield* newCustomer()
    const policy = { maxPerDay: 20_000n }
    const key = newKey()
    for (const order of [{ words, key }, { words, key }, { words }]) {
      yield* Effect.promise(() => buyerOf(at, undefined, { policy }).witness(order))
    }
    const refused = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words }))
    assert.strictEqual(refused.code, "above_day_limit")
    assert.match(refused.message, /With \$0\.02 already signed for today, \$0\.01 more/u)
    assert.strictEqual(yield* authorizationsUsed(at), 2)
  })

  it.effect("limits concurrent runs together", function* () {
    yield* today
    const at = yield* newCustomer()
    const ended = yield* Effect.promise(() =>
      Promise.allSettled(
        Array.from({ length: 6 }, () => buyerOf(at, undefined, { policy: { maxPerDay: 30_000n } }).witness({ words })),
      ),
    )
    assert.strictEqual(ended.filter(({ status }) => status === "fulfilled").length, 3)
    assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [3, 3])
  })

  it.effect("pays only known recipients in a known token, unless the buyer names another", function* () {
    const at = yield* newCustomer()
    const tokenless = yield* rejection(buyerOf(at, undefined, { policy: { network: "eip155:1" } }).witness({ words }))
    assert.deepStrictEqual([tokenless._tag, tokenless.code, at.counted.signatures], ["Refused", "unknown_network", 0])
    yield* Effect.promise(() => buyerOf(at).witness({ words }))
    const moved = offering({ payTo: stranger })
    const refused = yield* rejection(buyerOf(at, moved).witness({ words }))
    assert.strictEqual(refused.code, "other_payee")
    assert.strictEqual(at.counted.signatures, 1)
    const named = yield* rejection(buyerOf(at, moved, { policy: { payTo: stranger } }).witness({ words }))
    assert.strictEqual(named.code, "payment_invalid", "signed as the buyer said, and refused by the real altar")
  })

  it.effect("signs nothing without an account, which free calls do without", function* () {
    const { journal, url } = yield* newCustomer(0n)
    const reader = buyer({ url, journal })
    assert.strictEqual((yield* rejection(reader.witness({ words }))).code, "no_account")
    assert.strictEqual((yield* rejection(reader.resume(newKey()))).code, "attempt_not_found")
  })
})
