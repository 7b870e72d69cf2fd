/** While the outcome of a payment is unknown, the buyer waits and asks; it never signs again, and only evidence ends it. */
import { Effect, Fiber } from "effect"
import type { Progress } from "../../src/buyer/index.ts"
import { authorizationsUsed, buyerOf, rejection, stage } from "../lab/buyer/LibraryBuyer.ts"
import { today } from "../lab/Clock.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { newKey } from "../lab/Fixture.ts"
import { assert, describe, live } from "../lab/Suites.ts"

const words = "The heron will return by May."

describe("a payment with an unknown outcome", () => {
  live("is awaited, and then answered with its types, for one signature", () =>
    Effect.gen(function* () {
      const at = yield* stage()
      yield* Purchase.onChain((client) => client.setAutomine(false))
      const told: Array<Progress> = []
      const onProgress = (progress: Progress) => void told.push(progress)
      const key = newKey()
      const buying = yield* Effect.forkScoped(
        Effect.promise(() => buyerOf(at, undefined, { onProgress }).witness({ words, key })),
      )
      yield* Effect.promise(async () => {
        while (!told.some(({ step }) => step === "pending")) await new Promise((resolve) => setTimeout(resolve, 20))
      })
      yield* Purchase.onChain(async (client) => {
        await client.setAutomine(true)
        await client.mine({ blocks: 1 })
      })
      const { record } = yield* Fiber.join(buying)
      assert.match(record.chainHash, /^[0-9a-f]{64}$/u)
      assert.deepStrictEqual([at.counted.signatures, new Set(at.handedIn).size], [1, 1])
      assert.strictEqual(yield* authorizationsUsed(at), 1)
      assert.strictEqual(told[0]?.step, "signed")
    }).pipe(Effect.provide(proxiedServer("relayer"))),
  )

  live("ends as refused when the chain proves that it never settled, and still counts for the day's limit", () =>
    Effect.gen(function* () {
      yield* today
      const at = yield* stage()
      const { rpc } = yield* Proxies
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
      assert.match(refused.message, /Nothing was charged\. Start again with a new Idempotency-Key\.$/u)
      assert.strictEqual(yield* authorizationsUsed(at), 0)
      const again = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words, key }))
      assert.strictEqual(again.code, "payment_failed")
      assert.strictEqual(at.counted.signatures, 1)
      // Only the altar says that it failed, and a lying one still has the signature: a limit holds against it as well.
      const next = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words }))
      assert.strictEqual(next.code, "above_day_limit")
      assert.strictEqual(at.counted.signatures, 1)
    }).pipe(Effect.provide(proxiedServer("relayer"))),
  )
})
