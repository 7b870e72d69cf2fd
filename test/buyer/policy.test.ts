/** Nothing is signed that was not expected: a lying challenge, a limit, or another payee than before ends in one sentence. */
import { Effect } from "effect"
import { buyer, type Policy } from "../../src/buyer/index.ts"
import { today } from "../lab/Clock.ts"
import { authorizationsUsed, buyerOf, type Network, rejection, stage } from "../lab/buyer/LibraryBuyer.ts"
import { layer as world, newKey } from "../lab/Fixture.ts"
import type { Offer } from "../lab/buyer/Payment.ts"
import { assert, suite } from "../lab/Suites.ts"

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

const limits: ReadonlyArray<readonly [code: string, policy: Policy, says: RegExp]> = [
  ["above_limit", { maxPerPayment: 9_999n }, /above your limit of 9999 atomic USDC a payment/u],
  ["above_day_limit", { maxPerDay: 9_999n }, /above your limit of 9999 atomic USDC a day/u],
  ["unknown_network", { network: "eip155:1" }, /on eip155:1, where no USDC is known/u],
]

suite("the spend policy", world(), (it) => {
  it.each(limits)("enforces the buyer's limit: %s", function* ([code, policy, says]) {
    const at = yield* stage()
    const refused = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words }))
    assert.deepStrictEqual([refused._tag, refused.code], ["Refused", code], refused.message)
    assert.match(refused.message, says)
    assert.strictEqual(at.counted.signatures, 0)
  })

  it("counts a day over restarts, and a repeated key once", function* () {
    yield* today
    const at = yield* stage()
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

  it("limits concurrent runs together", function* () {
    yield* today
    const at = yield* stage()
    const ended = yield* Effect.promise(() =>
      Promise.allSettled(
        Array.from({ length: 6 }, () => buyerOf(at, undefined, { policy: { maxPerDay: 30_000n } }).witness({ words })),
      ),
    )
    assert.strictEqual(ended.filter(({ status }) => status === "fulfilled").length, 3)
    assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [3, 3])
  })

  it("pays only known recipients, unless the buyer names another", function* () {
    const at = yield* stage()
    yield* Effect.promise(() => buyerOf(at).witness({ words }))
    const moved: Network = async (request, forward) => {
      if (!request.url.endsWith("/.well-known/agent.json")) return offering({ payTo: stranger })(request, forward)
      const manifest = await (await forward(request)).json()
      return Response.json({ ...manifest, payment: { ...manifest.payment, payTo: stranger } })
    }
    const refused = yield* rejection(buyerOf(at, moved).witness({ words }))
    assert.strictEqual(refused.code, "other_payee")
    assert.strictEqual(at.counted.signatures, 1)
    const named = yield* rejection(buyerOf(at, moved, { policy: { payTo: stranger } }).witness({ words }))
    assert.strictEqual(named.code, "payment_invalid", "signed as the buyer said, and refused by the real altar")
  })

  it("signs nothing without an account, with which spirits and altars are read", function* () {
    const { journal, url } = yield* stage(0n)
    const reader = buyer({ url, journal })
    assert.strictEqual((yield* rejection(reader.witness({ words }))).code, "no_account")
    assert.strictEqual((yield* Effect.promise(() => reader.spirits())).length, 24)
    assert.strictEqual((yield* Effect.promise(() => reader.altar("moss-hare")))?.spirit, "moss-hare")
  })
})
