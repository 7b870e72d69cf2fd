/** A server killed after its node forgot the transactions it had accepted sends each of them again, and each pays once. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { until } from "../lab/Eventually.ts"
import { Proxies } from "../lab/TestServices.ts"
import { proxied } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

const untilEnded = (purchase: Purchase.Purchase) =>
  Purchase.attemptOf(purchase).pipe(until("it stays pending", (attempt) => attempt?.state !== "pending", 50))

describe.concurrent("a server killed with transactions that no node knows", () => {
  staged("sends each again under its nonce, and each of its payments is made once", function* () {
    const { rpc } = yield* Proxies
    const sql = yield* SqlClient.SqlClient
    const server = yield* ServerProcess.make({ ...(yield* proxied), TEST_SWEEP_SECONDS: "1", LOG_LEVEL: "Info" })
    yield* server.start
    const purchases = yield* Purchase.prepareMany(server.url, 4)
    rpc.arm("eth_sendRawTransaction", "swallow")
    yield* Effect.forkScoped(
      Effect.forEach(purchases, (one) => Effect.exit(Purchase.send(one)), { concurrency: "unbounded" }),
    )
    yield* sql`SELECT hash FROM relayer_broadcasts`.pipe(until("recorded", (rows) => rows.length === 4))
    yield* server.kill
    yield* rpc.calm
    for (const one of purchases) assert.deepInclude(yield* Purchase.charges(one), { charged: 0, isUsed: false })
    yield* server.start
    for (const one of purchases) yield* untilEnded(one)
    for (const one of purchases) yield* Purchase.assertSettled(one)
    assert.strictEqual(yield* Purchase.relayed, 4)
    yield* Purchase.assertNextStone(server.url)
  })
})
