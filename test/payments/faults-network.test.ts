/** A node, a database or a client that goes away never costs a payer a stone, and is never the payer's fault. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Purchase from "../lab/buyer/Purchase.ts"
import type { NodeFault } from "../lab/proxy/Node.ts"
import { proxiedServer, Proxies } from "../lab/server/ProxiedServer.ts"
import { World } from "../lab/Fixture.ts"

describe("a node that cannot be asked at verification", { concurrent: true }, () => {
  const faults: ReadonlyArray<readonly [what: string, fault: NodeFault]> = [
    ["answers 500", "status500"],
    ["hangs up", "dropBefore"],
    ["answers a page", "nonsense"],
    ["answers nothing", "nothing"],
    ["has had enough requests", "refusal"],
  ]
  for (const [what, fault] of faults) {
    it.live(`because it ${what} makes the answer 503, and the same payment is good afterwards`, () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const { rpc } = yield* Proxies
        const sql = yield* SqlClient.SqlClient
        const purchase = yield* Purchase.prepare(url)
        rpc.arm("*", fault)
        const answer = yield* Purchase.send(url, purchase)
        assert.strictEqual(answer.status, 503, answer.text)
        assert.strictEqual(answer.json["code"], "facilitator_unavailable")
        assert.match(String(answer.json["message"]), /This request charged nothing\.$/u)
        assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
        const written = yield* sql<{ n: number }>`
          SELECT ((SELECT count(*) FROM payment_attempts) + (SELECT count(*) FROM payment_claims)
            + (SELECT count(*) FROM payment_pools))::int AS n`
        assert.strictEqual(written[0]?.n, 0, "nothing is written")
        yield* rpc.calm
        const again = yield* Purchase.send(url, purchase)
        assert.strictEqual(again.status, 201, again.text)
        yield* Purchase.assertSettled(url, purchase)
      }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
    )
  }
})

describe("a database that hangs up", { concurrent: true }, () => {
  // I11
  it.live("after the COMMIT of a stone has recorded that stone", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { database } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      database.arm(/^COMMIT$/u, "cutAfter")
      const answer = yield* Purchase.send(url, purchase)
      assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "unavailable"], answer.text)
      assert.match(String(answer.json["message"]), /do not sign another/u)
      yield* database.calm
      yield* Purchase.assertSettled(url, purchase)
      yield* Purchase.assertNextStone(url)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )

  // I11
  it.live("before the COMMIT of a stone has not recorded that stone, and reconciling records it", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { database } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      database.arm(/^COMMIT$/u, "cutBefore")
      const answer = yield* Purchase.send(url, purchase)
      assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "unavailable"], answer.text)
      assert.deepInclude(yield* Purchase.books(purchase), { charged: 1, acts: 0, stones: 0, state: "pending" })
      yield* database.calm
      const again = yield* Purchase.reconcile(url, purchase)
      assert.strictEqual(again.status, 200, again.text)
      yield* Purchase.assertSettled(url, purchase)
      yield* Purchase.assertNextStone(url)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )

  it.live("after the intent was written leaves the attempt open until it can no longer be paid", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { database } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      database.arm(/INSERT INTO payment_attempts/u, "cutAfter")
      const answer = yield* Purchase.send(url, purchase)
      assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "unavailable"], answer.text)
      yield* database.calm
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      yield* Purchase.outlive
      assert.strictEqual((yield* Purchase.secondLook(url, purchase)).status, 402)
      yield* Purchase.assertFailed(url, purchase, "authorization_expired")
    }).pipe(Effect.provide(proxiedServer("relayer"))),
  )

  it.live("before the intent was written leaves no attempt, and the same payment is good afterwards", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { database } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      database.arm(/INSERT INTO payment_attempts/u, "cutBefore")
      const answer = yield* Purchase.send(url, purchase)
      assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "unavailable"], answer.text)
      assert.strictEqual(yield* Purchase.attemptOf(purchase), undefined)
      yield* database.calm
      const again = yield* Purchase.send(url, purchase)
      assert.strictEqual(again.status, 201, again.text)
      yield* Purchase.assertSettled(url, purchase)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )
})

describe("a client that goes away during settlement", { concurrent: true }, () => {
  for (const settledBy of ["relayer", "facilitator"] as const) {
    it.live(`finds its stone by its key (${settledBy})`, () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const { facilitator, rpc } = yield* Proxies
        const purchase = yield* Purchase.prepare(url)
        const trap =
          settledBy === "relayer" ? rpc.arm("eth_sendRawTransaction", "holdBefore") : facilitator.arm("holdBefore")
        const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
        yield* trap.arrived
        yield* Fiber.interrupt(request)
        // Time for the server to see that nobody listens any more.
        yield* Effect.sleep("100 millis")
        yield* trap.release
        yield* Purchase.ended(purchase)
        yield* Purchase.assertSettled(url, purchase)
      }).pipe(Effect.provide(proxiedServer(settledBy, "20 seconds"))),
    )
  }
})
