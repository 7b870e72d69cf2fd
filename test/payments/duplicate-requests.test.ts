/** A request that is sent twice at once is one purchase: the slower one is never told that the faster one's payment is bad. */
import { Fiber } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

apart(
  "a payment under verification while a duplicate of its request settles",
  proxiedServer("relayer", "20 seconds"),
  (it) => {
    it("gets the answer that the duplicate bought", function* ({ rpc, url }) {
      const purchase = yield* Purchase.prepare(url)
      const trap = rpc.arm("eth_call", "holdBefore")
      const slower = yield* Purchase.sendInto(trap, url, purchase)
      yield* rpc.calm
      const faster = yield* Purchase.send(url, purchase)
      assert.strictEqual(faster.status, 201, faster.text)
      yield* trap.release
      const answer = yield* Fiber.join(slower)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.text, faster.text.replace(/false\}$/u, "true}"))
      yield* Purchase.assertSettled(url, purchase)
    })

    it("with another body gets a conflict, not an invalid payment", function* ({ rpc, url }) {
      const purchase = yield* Purchase.prepare(url)
      const trap = rpc.arm("eth_call", "holdBefore")
      const other = { ...purchase, body: { commitment: "ab".repeat(32) } }
      const slower = yield* Purchase.sendInto(trap, url, other)
      yield* rpc.calm
      assert.strictEqual((yield* Purchase.send(url, purchase)).status, 201)
      yield* trap.release
      const answer = yield* Fiber.join(slower)
      assertAnswer(answer, 409, "idempotency_conflict")
      yield* Purchase.assertSettled(url, purchase)
    })
  },
)
