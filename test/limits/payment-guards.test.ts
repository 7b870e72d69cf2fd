/** The memory of addresses over their limit of refused payments is bounded: the oldest is counted again. */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import * as PaymentGuards from "../../src/altar/PaymentGuards.ts"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { from } from "../lab/server/Rooms.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

const kept = 10_000

/** Each refused payment takes the last place of its address. */
const neighbours = Layer.merge(
  Layer.mock(ClientAddress, { of: ({ headers }) => headers["x-forwarded-for"] ?? "" }),
  Layer.mock(RateLimiter, {
    take: ({ windows }) => Effect.succeed(windows.map((window) => ({ window, remaining: 0, resetSeconds: 60 }))),
    gate: () => {
      throw new Error("a paid request has no gate")
    },
  }),
)

describe("the addresses with too many refused payments", () => {
  effect("are remembered up to 10,000, and the oldest starts again", () =>
    Effect.gen(function* () {
      const guardOf = yield* PaymentGuards.make
      const guard = (index: number) =>
        guardOf(HttpServerRequest.fromWeb(new Request("http://altar.example/", { headers: from(`address ${index}`) })))
      const isLetIn = (index: number) =>
        Effect.map(Effect.result(guard(index).admit(Effect.succeed(true))), ({ _tag }) => _tag === "Success")
      for (let index = 0; index < kept; index += 1) yield* guard(index).refused
      assert.deepStrictEqual([yield* isLetIn(0), yield* isLetIn(kept - 1), yield* isLetIn(kept)], [false, false, true])
      yield* guard(kept).refused
      assert.deepStrictEqual([yield* isLetIn(0), yield* isLetIn(1), yield* isLetIn(kept)], [true, false, false])
    }).pipe(Effect.provide(neighbours), Effect.scoped),
  )
})
