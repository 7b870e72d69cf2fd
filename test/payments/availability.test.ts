/** While no payment could be taken nobody is offered anything or blamed, and whoever watches is told why. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { parseAbi } from "viem"
import { Chain } from "../../src/payments/x402/node/Chain.ts"
import { ChainUnavailable } from "../../src/payments/x402/node/Rpc.ts"
import { TokenWatch } from "../../src/payments/x402/node/TokenWatch.ts"
import { patience } from "../lab/Patience.ts"
import { proxiedServer, Proxies } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { type Answer, ask, newCommitment, newKey, post, World } from "../lab/Fixture.ts"

const issuer = parseAbi([
  "function pause()",
  "function unpause()",
  "function blacklist(address account)",
  "function unBlacklist(address account)",
])

type Order = readonly ["pause" | "unpause"] | readonly ["blacklist" | "unBlacklist", `0x${string}`]

const order = ([functionName, ...args]: Order) =>
  Purchase.onChain(async (client, { asset }) => {
    const [account] = await client.getAddresses()
    const call = { address: asset, abi: issuer, functionName, args, account, chain: null } as never
    await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
  })

const becomes = (path: string, status: number) =>
  Effect.flatMap(World, ({ url }) => ask(`${url}${path}`)).pipe(
    Effect.repeat({ until: (answer) => answer.status === status, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({ duration: patience(30), orElse: () => Effect.die(`${path} never answers ${status}`) }),
  )

const assertRefused = (answer: Answer, code: string, wait: string, message: RegExp) => {
  assert.deepStrictEqual([answer.status, answer.json["code"]], [503, code], answer.text)
  assert.strictEqual(answer.headers.get("retry-after"), wait)
  assert.match(String(answer.json["message"]), message)
}

/** Every kind of unpaid request is refused, and the probes say why; what is free works. */
const offersNothing = Effect.fnUntraced(function* (
  code: string,
  wait: string,
  message: RegExp,
  payments: "failing" | "paused",
) {
  const { url } = yield* World
  const ready = yield* becomes("/readyz", 503)
  assert.deepInclude(ready.json, { ready: false, database: "ok", payments })
  const body = { commitment: newCommitment() }
  const unpaid = [{ method: "POST" }, post(body), post(body, { "idempotency-key": newKey() })]
  for (const init of unpaid) assertRefused(yield* ask(`${url}/api/witness`, init), code, wait, message)
  const health = yield* ask(`${url}/api/health`)
  assert.deepStrictEqual([health.status, health.json["ok"]], [503, false])
  assert.deepInclude(health.json["payments"], { state: payments })
  assert.strictEqual((yield* ask(`${url}/readyz?for=reads`)).status, 200)
  assert.strictEqual((yield* ask(`${url}/api/witness`)).status, 200)
  return health.json["payments"] as Readonly<Record<string, unknown>>
})

const attempts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ n: number }>`SELECT count(*)::int AS n FROM payment_attempts`,
).pipe(Effect.map((rows) => rows[0]?.n))

/** The same payment, once it can be taken. */
const sellsAgain = Effect.fnUntraced(function* (purchase: Purchase.Purchase) {
  const { url } = yield* World
  yield* becomes("/readyz", 200)
  assert.deepInclude((yield* ask(`${url}/api/health`)).json["payments"], { state: "ready", obstacle: null })
  assert.strictEqual((yield* Purchase.send(url, purchase)).status, 201)
  yield* Purchase.assertSettled(url, purchase)
})

const primed = Effect.gen(function* () {
  const { url } = yield* World
  const purchase = yield* Purchase.prepare(url)
  // A bare question is remembered, and must notice all the same.
  assert.strictEqual((yield* ask(`${url}/api/witness`, { method: "POST" })).status, 402)
  return { url, purchase }
})

describe("while every payment would be refused", { timeout: patience(90) }, () => {
  it.live.each(["relayer", "facilitator"] as const)(
    "because the node does not answer, unpaid requests are 503 and probes say so: with a %s",
    (settledBy) =>
      Effect.gen(function* () {
        const { purchase, url } = yield* primed
        const { rpc } = yield* Proxies
        rpc.arm("*", "status500")
        const payments = yield* offersNothing(
          "facilitator_unavailable",
          "5",
          /^The node .* does not answer/u,
          "failing",
        )
        assert.match(String(payments["obstacle"]), /^The node /u)
        assert.strictEqual((yield* Purchase.send(url, purchase)).status, 503)
        assert.strictEqual(yield* attempts, 0)
        yield* rpc.calm
        yield* sellsAgain(purchase)
      }).pipe(Effect.provide(proxiedServer(settledBy, "20 seconds"))),
  )

  it.live("because the operator has paused sales, unpaid requests are 503 and probes say so", () =>
    Effect.gen(function* () {
      const { purchase } = yield* primed
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE payment_pause SET reason = 'stock-taking', since = now()`
      const payments = yield* offersNothing("selling_paused", "60", /^The operator has paused sales/u, "paused")
      assert.deepInclude(payments, { settlement: "ok", obstacle: null })
      yield* sql`UPDATE payment_pause SET reason = NULL, since = NULL`
      yield* sellsAgain(purchase)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )

  const receiver = Purchase.onChain(async (_, { payTo }) => payTo)
  const orders = [
    ["the token is paused", /paused all transfers/u, () => Effect.succeed([["pause"], ["unpause"]] as const)],
    [
      "the receiving wallet is blocked",
      /blocked the wallet that receives/u,
      () =>
        Effect.map(
          receiver,
          (payTo) =>
            [
              ["blacklist", payTo],
              ["unBlacklist", payTo],
            ] as const,
        ),
    ],
  ] as const
  for (const [what, message, ordersOf] of orders) {
    it.live(`because ${what}, no payer is blamed, and the same payment settles afterwards`, () =>
      Effect.gen(function* () {
        const { purchase, url } = yield* primed
        const [begin, end] = yield* ordersOf()
        yield* order(begin)
        // At once, whatever was believed of the token before.
        assertRefused(yield* Purchase.send(url, purchase), "facilitator_unavailable", "5", message)
        const payments = yield* offersNothing("facilitator_unavailable", "5", message, "failing")
        assert.match(String(payments["obstacle"]), message)
        assertRefused(yield* Purchase.send(url, purchase), "facilitator_unavailable", "5", /charged nothing\.$/u)
        assert.strictEqual(yield* attempts, 0)
        yield* order(end)
        yield* sellsAgain(purchase)
      }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
    )
  }

  it.live("a blocked payer alone is refused, and everybody else is sold to", () =>
    Effect.gen(function* () {
      const { purchase, url } = yield* primed
      yield* order(["blacklist", purchase.payer.address])
      const refused = yield* Purchase.send(url, purchase)
      assert.deepStrictEqual([refused.status, refused.json["code"]], [402, "payment_invalid"], refused.text)
      assert.strictEqual((yield* Purchase.send(url, yield* Purchase.prepare(url))).status, 201)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )
})

describe("a token without paused() and isBlacklisted()", () => {
  const watching = (answer: Effect.Effect<unknown, ChainUnavailable>) =>
    Effect.flatMap(TokenWatch, ({ obstacleNow }) => obstacleNow).pipe(
      Effect.provide(
        TokenWatch.layer({ asset: `0x${"1".repeat(40)}`, payTo: `0x${"2".repeat(40)}` }).pipe(
          Layer.provide(Layer.mock(Chain, { ask: () => answer })),
        ),
      ),
    )
  const refusal = (facts: object) =>
    Effect.fail(new ChainUnavailable({ method: "eth_call", reason: "refused the question", ...facts }))

  it.live("neither pauses nor blocks, whether it reverts or answers nothing", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* watching(refusal({ code: 3, detail: "execution reverted" })))
      assert.isUndefined(yield* watching(Effect.succeed("0x")))
      assert.isUndefined(yield* watching(Effect.succeed(`0x${"0".repeat(64)}`)))
      assert.match(String(yield* watching(Effect.succeed(`0x${"1".padStart(64, "0")}`))), /paused/u)
      assert.match(String(yield* watching(refusal({ status: 502 }))), /node/u)
    }),
  )
})
