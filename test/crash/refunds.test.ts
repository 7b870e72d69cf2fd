/** Killed without warning between a refund's intent and its record, a server pays it exactly once. */
import { Effect } from "effect"
import * as Refunds from "../lab/buyer/Refunds.ts"
import { TestServer } from "../lab/Fixture.ts"
import type { Trap } from "../lab/proxy/Faults.ts"
import { proxied } from "../lab/server/Environment.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { assert, describe, live } from "../lab/Suites.ts"

interface Point {
  readonly killed: string
  readonly arm: (proxies: Proxies["Service"]) => Trap
}

const points: ReadonlyArray<Point> = [
  {
    killed: "with the broadcast in flight to a node that never receives it",
    arm: ({ rpc }) => rpc.arm("eth_sendRawTransaction", "holdBefore"),
  },
  {
    killed: "with the broadcast accepted and the response held back",
    arm: ({ rpc }) => rpc.arm("eth_sendRawTransaction", "holdAfter"),
  },
  {
    killed: "with the final COMMIT in flight to the database",
    arm: ({ database }) => database.arm(/^COMMIT$/u, "holdBefore"),
  },
  {
    killed: "with the final COMMIT done and its reply held back",
    arm: ({ database }) => database.arm(/^COMMIT$/u, "holdAfter"),
  },
]

describe("a server killed while it sends a refund,", { concurrent: true }, () => {
  // I19
  live.each(points)("$killed, pays it once", ({ arm }) =>
    Effect.gen(function* () {
      const proxies = yield* Proxies
      const environment = { ...(yield* proxied), SETTLE_TIMEOUT_SECONDS: "2", SWEEP_SECONDS: "1", LOG_LEVEL: "Info" }
      const server = yield* ServerProcess.make(environment)
      yield* server.start
      yield* Effect.gen(function* () {
        const one = yield* Refunds.operator
        const bought = yield* Refunds.unmatched
        const trap = arm(proxies)
        yield* one.repay("--payment", bought.transaction)
        yield* trap.arrived
        yield* server.kill
        yield* Effect.all([proxies.rpc.calm, proxies.database.calm])
        yield* server.start
        yield* Refunds.becomes(bought.transaction, "REFUNDED")
        assert.deepStrictEqual(yield* Refunds.returned(bought.payer.address), [10_000n])
      }).pipe(Effect.provideService(TestServer, { url: server.url }))
    }).pipe(Effect.provide(stage)),
  )
})
