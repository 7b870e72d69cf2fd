/** The log in a real database: the same bytes in every order of building, on every server, and after every kill. */
import { Effect, Exit, Option, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import {
  expected,
  forget,
  integrateAll,
  layer as world,
  publish,
  server,
  settle,
  stored,
} from "../lab/log/LogFixture.ts"
import * as PgProxy from "../lab/proxy/Postgres.ts"
import { until } from "../lab/Eventually.ts"
import { assert, suite } from "../lab/Suites.ts"

suite("the integrator", world, (it) => {
  it("builds the same tiles one by one, in batches, and on any number of servers", function* () {
    yield* settle(300)
    const whole = yield* expected
    for (const batch of [1, 37, 4096]) {
      yield* forget
      assert.strictEqual(yield* Effect.provide(integrateAll, server(batch)), 300)
      assert.deepStrictEqual(yield* stored, whole, `batches of ${batch}`)
    }
    // A server that finds the head locked tries again, as its loop does.
    const atWork = Effect.andThen(integrateAll, stored).pipe(
      Effect.repeat({ until: ({ size }) => size === 350 }),
      Effect.provide(server(7)),
    )
    yield* Effect.all([settle(50), atWork, atWork, atWork, atWork], { concurrency: "unbounded", discard: true })
    assert.deepStrictEqual(yield* stored, yield* expected)
  })

  const steps = [/FROM log_head WHERE/u, /witness_head h/u, /^BEGIN/iu, /SKIP LOCKED/u, /FROM json_to_recordset.*p\(/su]
    .concat([/WITH growths/u, /^COMMIT/iu, /FROM log_checkpoints/u, /INSERT INTO log_checkpoints/u])
    .flatMap((step) => (["cutBefore", "cutAfter"] as const).map((fault) => ({ step, fault })))

  it("continues after a kill between any two statements", function* () {
    const { url } = yield* LocalDatabase
    for (const { fault, step } of steps) {
      yield* forget
      yield* Effect.provide(integrateAll, server(300))
      yield* Effect.provide(publish, server(300))
      yield* settle(3)
      const proxy = yield* PgProxy.make(Redacted.value(url))
      const trap = proxy.arm(step, fault)
      const died = yield* Effect.andThen(integrateAll, publish).pipe(
        Effect.provide(server(300, undefined, proxy.url)),
        Effect.exit,
      )
      yield* trap.arrived
      assert.isTrue(Exit.isFailure(died), `${fault} ${step.source}`)
      const whole = yield* expected
      const newest = yield* Effect.andThen(integrateAll, publish).pipe(
        Effect.andThen(Effect.flatMap(LogStore, (store) => store.newest)),
        // The database may not have noticed the death yet and hold the dead server's head: it is looked for again.
        until(
          "the log never had every stone",
          Option.exists(({ size }) => size === whole.size),
          30,
          5,
        ),
        Effect.provide(server(300)),
      )
      assert.deepStrictEqual(yield* stored, whole, `${fault} ${step.source}`)
      assert.strictEqual(Option.getOrUndefined(newest)?.size, whole.size)
    }
  })
})
