/** An altar that starts for ever is given up after a while, and no key is used for it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { altarFetch } from "../../src/cli/buyer/AltarFetch.ts"
import { sandboxOf } from "../../src/cli/buyer/Faucet.ts"
import { json, serve } from "../lab/proxy/HttpServer.ts"
import { assert, effect } from "../lab/Suites.ts"

effect("an altar that never finishes its start is polled once a second and abandoned", () =>
  Effect.gen(function* () {
    const times: Array<number> = []
    const clock = yield* Clock.Clock
    const url = yield* serve(async () => {
      times.push(clock.currentTimeMillisUnsafe())
      return json({ ok: false, code: "unavailable" }, 503)
    })
    // The clock stands while a question is on its way, however long that takes here.
    let inFlight = 0
    const real = globalThis.fetch
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        globalThis.fetch = (input, init) => {
          inFlight += 1
          return real(input, init).finally(() => (inFlight -= 1))
        }
      }),
      () => Effect.sync(() => (globalThis.fetch = real)),
    )
    const asking = yield* Effect.forkChild(Effect.flip(sandboxOf(url, yield* altarFetch())))
    const wait = Effect.andThen(
      Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
      Effect.suspend(() => (inFlight === 0 ? TestClock.adjust("100 millis") : Effect.void)),
    )
    while (asking.pollUnsafe() === undefined) yield* wait
    const { message } = yield* Fiber.join(asking)
    assert.match(
      message,
      /is still starting, or its parts do not answer.*Nothing was signed, so nothing was charged\.$/u,
    )
    const between = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    assert.isAbove(times.length, 20)
    assert.isTrue(
      between.every((pause) => pause >= 1000),
      JSON.stringify(between),
    )
    assert.isBelow((times.at(-1) ?? 0) - (times[0] ?? 0), 60_000)
  }).pipe(Effect.provide(NodeServices.layer)),
)
