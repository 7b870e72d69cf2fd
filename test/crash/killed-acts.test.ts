/** One table over all acts: killed with every act in flight, each fails uncharged and is free again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ActRow, acts } from "../lab/ActTable.ts"
import { afterNextSweep, doubted, passExpiry } from "../lab/buyer/Purchase.ts"
import { onChain, token } from "../lab/Chain.ts"
import { today } from "../lab/Clock.ts"
import { until } from "../lab/Eventually.ts"
import { ask, newKey, newPayer, post, Proxies, signedFor } from "../lab/Fixture.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { proxied } from "../lab/server/ServerProcess.ts"

const init = (body: object | undefined, headers: Record<string, string>): RequestInit =>
  body === undefined ? { method: "POST", headers } : post(body, headers)

const prepare = Effect.fnUntraced(function* (url: string, act: ActRow, { body, path } = act.request()) {
  const block = yield* onChain((client) => client.getBlock())
  const validBefore = String(block.timestamp + 150n)
  const { headers, key } = yield* signedFor(yield* newPayer(), `${url}${path}`, undefined, newKey(), { validBefore })
  return { act, path, body, key, send: ask(`${url}${path}`, init(body, headers)) }
})

const pendingAre = (count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ n: number }>`SELECT count(*)::int AS n FROM payment_attempts WHERE state = 'pending'`,
  ).pipe(
    Effect.orDie,
    until(`never were ${count} pending`, ([row]) => row?.n === count),
  )

describe.concurrent("a server killed with every act in flight and none broadcast", () => {
  it.live("fails each attempt at a start after its expiry, and frees it for the next buyer", () =>
    Effect.gen(function* () {
      const { rpc } = yield* Proxies
      // Each act is bought again at the end.
      yield* today
      const settings = { TEST_SETTLE_SECONDS: "20", TEST_SWEEP_SECONDS: "3600" }
      const server = yield* ServerProcess.make({ ...(yield* proxied), ...settings })
      const { url } = server
      yield* server.start
      const all = acts()
      const purchases = yield* Effect.forEach(all, (act) => prepare(url, act))
      rpc.arm("eth_sendRawTransaction", "holdBefore")
      yield* Effect.forkScoped(Effect.forEach(purchases, ({ send }) => Effect.exit(send), { concurrency: "unbounded" }))
      yield* pendingAre(purchases.length)
      yield* server.kill
      yield* passExpiry
      yield* rpc.calm
      yield* server.start
      // One look fails nothing: the start an hour later agrees.
      for (const one of purchases) yield* doubted(one)
      for (const { act, body, path, send } of purchases) {
        const open = yield* send
        assertAnswer(open, 202, "settlement_pending", undefined, `${act.name} ${open.text}`)
        if (act.held === undefined) continue
        const other = yield* ask(`${url}${path}`, init(body, { "idempotency-key": newKey() }))
        assert.strictEqual(other.json["code"], act.held)
      }
      yield* server.kill
      for (const one of purchases) yield* afterNextSweep(one)
      yield* server.start
      yield* pendingAre(0)
      for (const one of purchases) {
        assertAnswer(yield* one.send, 402, "payment_failed", "authorization_expired")
        const next = yield* prepare(url, one.act, one)
        const bought = yield* next.send
        assert.strictEqual(bought.status, 201, `${one.act.name} ${bought.text}`)
      }
      const earned = yield* onChain((client, { asset, payTo }) =>
        client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payTo] }),
      )
      assert.strictEqual(
        earned,
        all.reduce((sum, { price }) => sum + BigInt(price), 0n),
      )
    }).pipe(Effect.provide(stage)),
  )
})
