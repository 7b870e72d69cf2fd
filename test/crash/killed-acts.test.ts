/** One table over all acts: killed with every act in flight, each fails uncharged and is free again. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { acts } from "../lab/ActTable.ts"
import { afterNextSweep, buyAt, doubted, passExpiry, prepareAt, send } from "../lab/buyer/Purchase.ts"
import { onChain, token } from "../lab/Chain.ts"
import { today } from "../lab/Clock.ts"
import { until } from "../lab/Eventually.ts"
import { newKey, Proxies } from "../lab/Fixture.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { proxied } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

const pendingAre = (count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ n: number }>`SELECT count(*)::int AS n FROM payment_attempts WHERE state = 'pending'`,
  ).pipe(
    Effect.orDie,
    until(`never were ${count} pending`, ([row]) => row?.n === count),
  )

describe.concurrent("a server killed with every act in flight and none broadcast", () => {
  staged("fails each attempt at a start after its expiry, and frees it for the next buyer", function* () {
    const { rpc } = yield* Proxies
    // Each act is bought again at the end.
    yield* today
    const settings = { TEST_SETTLE_SECONDS: "20", TEST_SWEEP_SECONDS: "3600" }
    const server = yield* ServerProcess.make({ ...(yield* proxied), ...settings })
    const { url } = server
    yield* server.start
    const all = acts()
    const purchases = yield* Effect.forEach(all, (act) =>
      Effect.map(prepareAt(url, act.request()), (purchase) => ({ act, ...purchase })),
    )
    rpc.arm("eth_sendRawTransaction", "holdBefore")
    yield* Effect.forkScoped(Effect.forEach(purchases, (one) => Effect.exit(send(one)), { concurrency: "unbounded" }))
    yield* pendingAre(purchases.length)
    yield* server.kill
    yield* passExpiry
    yield* rpc.calm
    yield* server.start
    // One inquiry fails no attempt. That of a start an hour later agrees with it.
    for (const one of purchases) yield* doubted(one)
    for (const purchase of purchases) {
      const { act } = purchase
      const open = yield* send(purchase)
      assertAnswer(open, 202, "settlement_pending", undefined, `${act.name} ${open.text}`)
      if (act.held === undefined) continue
      const other = yield* send({ ...purchase, headers: { "idempotency-key": newKey() } })
      assert.strictEqual(other.json["code"], act.held)
    }
    yield* server.kill
    for (const one of purchases) yield* afterNextSweep(one)
    yield* server.start
    yield* pendingAre(0)
    for (const { act: _, ...purchase } of purchases) {
      assertAnswer(yield* send(purchase), 402, "payment_failed", "authorization_expired")
      yield* buyAt(url, { path: purchase.path, body: purchase.body })
    }
    const earned = yield* onChain((client, { asset, payTo }) =>
      client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payTo] }),
    )
    assert.strictEqual(
      earned,
      all.reduce((sum, { price }) => sum + BigInt(price), 0n),
    )
  })
})
