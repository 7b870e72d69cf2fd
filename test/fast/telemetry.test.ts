/** Probes that arrive together share one inquiry, and the trace id alone decides what is sampled. */
import { Deferred, Effect, Fiber, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Statement } from "effect/sql"
import { ServiceGroup } from "../../schema/Health.ts"
import { genesis } from "../../schema/altar/ChainCheck.ts"
import { Reveals } from "../../src/altar/Reveals.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { ActsLog } from "../../src/log/ActsLog.ts"
import { Confirmation } from "../../src/log/Confirmation.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { Availability } from "../../src/payments/Availability.ts"
import { PaymentTerms } from "../../src/payments/PaymentTerms.ts"
import { Lookup } from "../../src/payments/ledger/Lookup.ts"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import * as RoomRequests from "../../src/room/Requests.ts"
import * as HealthHttp from "../../src/server/HealthHttp.ts"
import { isIn } from "../../src/telemetry/Tracing.ts"
import { assert, describe, it, live } from "../lab/Suites.ts"

const looks = Effect.fnUntraced(function* (path: string) {
  let asked = 0
  const begun = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const parts = Layer.mergeAll(
    Layer.mock(WitnessChain, { head: Effect.succeed(genesis), linkOf: () => Statement.fragment([]) }),
    Layer.mock(Reveals, { state: Effect.void }),
    Layer.mock(Lookup, {
      pending: Effect.suspend(() => {
        asked += 1
        return Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate)), 0)
      }),
      lost: Effect.succeed(0),
    }),
    PublishedLog.none,
    Confirmation.layer,
    ActsLog.none,
    Layer.mock(Availability, {
      state: Effect.succeed({ isPaused: false, obstacle: undefined, settlement: "ok" as const }),
    }),
    Layer.mock(DatabaseClock, { now: Effect.succeed({ millis: 0, aheadMillis: 0 }) }),
    PaymentTerms.notConfigured([]),
  )
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(
        HttpApiBuilder.layer(HttpApi.make("spirit-altar").add(ServiceGroup)).pipe(
          Layer.provide(HealthHttp.handlers),
          Layer.provide([RoomRequests.layer, parts]),
          Layer.provide(HttpServer.layerServices),
        ),
        { disableLogger: true },
      ),
    ),
    ({ dispose }) => Effect.promise(dispose),
  )
  const probe = Effect.promise(() => handler(new Request(`http://altar.example${path}`)))
  const first = yield* Effect.forkChild(probe)
  yield* Deferred.await(begun)
  const others = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.forkChild(probe))
  // Each has been heard once its promise runs; none is answered before the gate opens.
  for (let turn = 0; turn < 20; turn += 1) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  yield* Deferred.succeed(gate, undefined)
  const answers = yield* Effect.forEach([first, ...others], Fiber.join)
  return { asked, statuses: new Set(answers.map(({ status }) => status)) }
}, Effect.scoped)

describe("concurrent probes", () => {
  live.each(["/api/health", "/readyz", "/readyz?for=reads"])("share an inspection of the parts: %s", function* (path) {
    const { asked, statuses } = yield* looks(path)
    assert.deepStrictEqual([asked, statuses], [2, new Set([200])])
  })
})

const first = "0".repeat(32)
const last = "f".repeat(32)
const middle = `${"a".repeat(18)}80000000000000`

describe("a sampled trace", () => {
  it.each([
    [1, [first, middle, last]],
    [0.5, [middle, last]],
    [0.01, [last]],
    [0, []],
  ] as const)("with a share of %d is sampled by its id alone", (share, kept) => {
    assert.deepStrictEqual(
      [first, middle, last].filter((id) => isIn(share, id)),
      [...kept],
    )
  })
})
