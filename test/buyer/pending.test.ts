/** While the outcome of a payment is unknown, the buyer waits and asks; it never signs again, and only evidence ends it. */
import { Effect, Fiber } from "effect"
import { authorizationsUsed, buyerOf, rejection, stage } from "../lab/buyer/LibraryBuyer.ts"
import { today } from "../lab/Clock.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { newKey } from "../lab/Fixture.ts"
import { apart, assert } from "../lab/Suites.ts"

const words = "The heron will return by May."

apart("a payment with an unknown outcome", proxiedServer("relayer"), (it) => {
  it("ends as refused when the chain proves that it never settled, and still counts for the day's limit", function* ({
    rpc,
  }) {
    yield* today
    const at = yield* stage()
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
    const key = newKey()
    const policy = { maxPerDay: 10_000n }
    const buying = yield* Effect.forkScoped(rejection(buyerOf(at, undefined, { policy }).witness({ words, key })))
    yield* trap.arrived
    yield* rpc.calm
    yield* trap.discard
    yield* Purchase.passExpiry
    yield* Purchase.doubted({ key })
    yield* Purchase.afterNextSweep({ key })
    const refused = yield* Fiber.join(buying)
    assert.deepStrictEqual([refused._tag, refused.code], ["Refused", "payment_failed"], refused.message)
    assert.match(refused.message, /Start again with a new Idempotency-Key\. Nothing was charged\.$/u)
    assert.strictEqual(yield* authorizationsUsed(at), 0)
    const again = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words, key }))
    assert.strictEqual(again.code, "payment_failed")
    assert.strictEqual(at.counted.signatures, 1)
    // Only the altar says that it failed, and a lying one still has the signature: a limit holds against it as well.
    const next = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words }))
    assert.strictEqual(next.code, "above_day_limit")
    assert.strictEqual(at.counted.signatures, 1)
  })
})
