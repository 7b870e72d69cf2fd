/** One table over all acts: killed with every act in flight, each fails uncharged and is free again. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { proxied } from "../lab/server/Environment.ts"
import { type ActRow, acts } from "../lab/ActTable.ts"
import { afterNextSweep, passExpiry, storedAnswer } from "../lab/buyer/Purchase.ts"
import { onChain, token } from "../lab/Chain.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { today } from "../lab/Clock.ts"
import { ask, newKey, newPayer, post, signedFor } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

const init = (body: object | undefined, headers: Record<string, string>): RequestInit =>
  body === undefined ? { method: "POST", headers } : post(body, headers)

const prepare = Effect.fnUntraced(function* (url: string, act: ActRow) {
  const { body, path } = act.request()
  const block = yield* onChain((client) => client.getBlock())
  const validBefore = String(block.timestamp + 150n)
  const { headers, key } = yield* signedFor(yield* newPayer(), `${url}${path}`, undefined, newKey(), { validBefore })
  return { act, path, body, key, headers }
})

type Bought = Effect.Success<ReturnType<typeof prepare>>

const send = (url: string, { body, headers, path }: Bought) => ask(`${url}${path}`, init(body, headers))
const reconcile = (url: string, { key }: Bought) => ask(`${url}/api/reconcile/${key}`, { method: "POST" })

const earned = onChain((client, { asset, payTo }) =>
  client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payTo] }),
)

const pendingIs = (count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ n: number }>`SELECT count(*)::int AS n FROM payment_attempts WHERE state = 'pending'`,
  ).pipe(
    Effect.orDie,
    until(`never were ${count} pending`, ([row]) => row?.n === count),
  )

apart("a server killed with every act in flight and none broadcast", stage, (it) => {
  it("fails each attempt after its expiry, and frees it for the next buyer", function* ({ rpc }) {
    // Each act is bought again at the end.
    yield* today
    const server = yield* ServerProcess.make({
      ...(yield* proxied),
      SETTLE_TIMEOUT_SECONDS: "20",
      SWEEP_SECONDS: "3600",
    })
    yield* server.start
    const purchases = yield* Effect.forEach(acts(), (act) => prepare(server.url, act))
    rpc.arm("eth_sendRawTransaction", "holdBefore")
    yield* Effect.forkScoped(
      Effect.forEach(purchases, (one) => Effect.exit(send(server.url, one)), { concurrency: "unbounded" }),
    )
    yield* pendingIs(purchases.length)
    yield* server.kill
    yield* rpc.calm
    yield* server.start
    for (const one of purchases) {
      const open = yield* send(server.url, one)
      assertAnswer(open, 202, "settlement_pending", undefined, `${one.act.name} ${open.text}`)
      if (one.act.held !== undefined) {
        const other = yield* ask(`${server.url}${one.path}`, init(one.body, { "idempotency-key": newKey() }))
        assert.strictEqual(other.json["code"], one.act.held)
      }
    }
    yield* passExpiry
    for (const one of purchases) {
      assert.strictEqual((yield* reconcile(server.url, one)).status, 202, "one look fails nothing")
      yield* afterNextSweep(one)
    }
    for (const one of purchases) {
      const ended = yield* storedAnswer(server.url, one)
      assertAnswer(ended, 402, "payment_failed", "authorization_expired")
      assert.strictEqual((yield* send(server.url, one)).json["code"], "payment_failed")
      const next = yield* prepare(server.url, { ...one.act, request: () => one })
      const bought = yield* send(server.url, next)
      assert.strictEqual(bought.status, 201, `${one.act.name} ${bought.text}`)
    }
    assert.strictEqual(
      yield* earned,
      acts().reduce((sum, act) => sum + BigInt(act.price), 0n),
    )
  })
})
