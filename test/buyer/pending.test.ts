/** While the outcome of a payment is unknown, the buyer waits and asks; it never signs again. */
import { Effect, Fiber } from "effect"
import type { Progress } from "../../src/buyer/index.ts"
import { authorizationsUsed, buyerOf, stage } from "../lab/buyer/LibraryBuyer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { until } from "../lab/Eventually.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { apart, assert, valuesOf } from "../lab/Suites.ts"

apart("a payment with an unknown outcome", proxiedServer("relayer"), (it) => {
  it("is awaited, and then answered with its act, for one signature", function* () {
    const at = yield* stage()
    yield* Purchase.automine(false)
    const told: Array<Progress> = []
    const altar = buyerOf(at, undefined, { onProgress: (progress) => void told.push(progress) })
    const buying = yield* Effect.forkScoped(Effect.promise(() => altar.witness({ words: "The heron will return." })))
    yield* Effect.sync(() => valuesOf(told, "step")).pipe(until("never pending", (steps) => steps.includes("pending")))
    yield* Purchase.mineAll
    assert.match((yield* Fiber.join(buying)).record.chainHash, /^[0-9a-f]{64}$/u)
    assert.strictEqual(told[0]?.step, "signed")
    assert.deepStrictEqual([at.counted.signatures, new Set(at.handedIn).size], [1, 1])
    assert.strictEqual(yield* authorizationsUsed(at), 1)
  })
})
