/** An altar that starts for ever is given up after a while, and no key is used for it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { altarFetch } from "../../src/cli/buyer/AltarFetch.ts"
import { sandboxOf } from "../../src/cli/buyer/Faucet.ts"
import { assert, effect } from "../lab/Suites.ts"

effect("an altar that never finishes its start is polled once a second and abandoned", () =>
  Effect.gen(function* () {
    let asked = 0
    const real = globalThis.fetch
    yield* Effect.addFinalizer(() => Effect.sync(() => (globalThis.fetch = real)))
    globalThis.fetch = async () => {
      asked += 1
      return Response.json({ ok: false, code: "unavailable" }, { status: 503 })
    }
    const asking = yield* Effect.forkChild(Effect.flip(sandboxOf("http://127.0.0.1:9", yield* altarFetch())))
    for (let second = 0; second < 60; second += 1) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("1 second")
    }
    const { message } = yield* Fiber.join(asking)
    assert.match(message, /is still starting.*Nothing was signed, so nothing was charged\.$/u)
    assert.strictEqual(asked, 47)
  }).pipe(Effect.provide(NodeServices.layer)),
)
