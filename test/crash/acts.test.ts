/** One table over all acts: killed with every act in flight, each is charged and recorded once, or failed and free again. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { proxied } from "../lab/server/Environment.ts"
import { type ActRow, acts } from "../lab/ActTable.ts"
import { afterNextSweep, passExpiry, storedAnswer } from "../lab/buyer/Purchase.ts"
import { onChain, token } from "../lab/Chain.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { today } from "../lab/Clock.ts"
import { ask, newKey, newPayer, post, signedFor } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

const environment = Effect.gen(function* () {
  return {
    ...(yield* proxied),
    SETTLE_TIMEOUT_SECONDS: "20",
    SWEEP_SECONDS: "3600",
    LOG_LEVEL: "Info",
  }
})

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

/** Every act asked for at once, caught at one boundary, and the server killed. */
const killed = Effect.fnUntraced(function* (
  arm: (proxies: Proxies["Service"]) => void,
  wanted: Effect.Effect<unknown, never, LocalChain>,
) {
  // Each act is bought again at the end.
  yield* today
  const proxies = yield* Proxies
  const server = yield* ServerProcess.make(yield* environment)
  yield* server.start
  const purchases = yield* Effect.forEach(acts(), (act) => prepare(server.url, act))
  arm(proxies)
  yield* Effect.forkScoped(
    Effect.forEach(purchases, (one) => Effect.exit(send(server.url, one)), { concurrency: "unbounded", discard: true }),
  )
  yield* pendingIs(purchases.length)
  yield* wanted
  yield* server.kill
  yield* Effect.all([proxies.rpc.calm, proxies.database.calm])
  return { server, purchases }
})

const prices = acts().reduce((sum, act) => sum + BigInt(act.price), 0n)

apart("a server killed with every act in flight", stage, (it) => {
  it("and every act paid records each once, and replays it", function* () {
    const paid = earned.pipe(until("not every act was paid", (sum) => sum === prices))
    const { purchases, server } = yield* killed(({ database }) => database.arm(/^COMMIT$/u, "holdBefore"), paid)
    yield* server.start
    for (const one of purchases) {
      const ended = yield* reconcile(server.url, one)
      assert.strictEqual(ended.status, 200, `${one.act.name} ${ended.text}`)
      const again = yield* send(server.url, one)
      assert.deepStrictEqual([again.status, again.text], [200, ended.text], one.act.name)
      const { record } = JSON.parse(ended.text)
      assert.strictEqual((yield* ask(`${server.url}/api/acts/${record.id}`)).status, 200)
    }
    const field = JSON.parse((yield* ask(`${server.url}/api/field`)).text)
    assert.deepStrictEqual([field.acts, BigInt(field.centsSettled) * 10_000n], [purchases.length, prices])
    assert.strictEqual(yield* earned, prices)
  })

  it("and none broadcast fails each attempt after its expiry, and frees it for the next buyer", function* ({ rpc }) {
    const { purchases, server } = yield* killed(
      ({ rpc: node }) => node.arm("eth_sendRawTransaction", "holdBefore"),
      Effect.void,
    )
    yield* server.start
    for (const one of purchases) {
      const open = yield* send(server.url, one)
      assertAnswer(open, 202, "settlement_pending", undefined, `${one.act.name} ${open.text}`)
      if (one.act.held !== undefined) {
        const other = yield* ask(`${server.url}${one.path}`, init(one.body, { "idempotency-key": newKey() }))
        assert.strictEqual(other.json["code"], one.act.held)
      }
    }
    yield* rpc.calm
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
    assert.strictEqual(yield* earned, prices)
  })
})
