/** An authorization that stops being good, at any moment, costs its payer nothing and its neighbours nothing. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { broadcast, cancel, leave } from "../lab/buyer/ThirdParty.ts"
import { TestServer } from "../lab/Fixture.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

const refusedBefore = Effect.fnUntraced(function* (purchase: Purchase.Purchase, reason: string) {
  const { url } = yield* TestServer
  const sql = yield* SqlClient.SqlClient
  const answer = yield* Purchase.send(url, purchase)
  assertAnswer(answer, 402, "payment_invalid", reason)
  const written = yield* sql<{ n: number }>`
    SELECT ((SELECT count(*) FROM payment_attempts) + (SELECT count(*) FROM payment_claims)
      + (SELECT count(*) FROM payment_pools))::int AS n`
  assert.strictEqual(written[0]?.n, 0, "nothing is written")
  assert.strictEqual((yield* Purchase.reconcile(url, purchase)).status, 404)
  yield* Purchase.assertNextStone(url)
})

apart("before settlement", proxiedServer("relayer", "10 seconds"), (it) => {
  it("an authorization that is expired on the chain's clock is refused and nothing is stored", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url)
    yield* Purchase.passExpiry
    yield* refusedBefore(purchase, "invalid_exact_evm_payload_authorization_valid_before")
  })

  it("a payer without funds is not told that nothing was charged: funds let it settle", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url, 0n)
    const refused = yield* Purchase.send(url, purchase)
    assert.strictEqual(refused.json["reason"], "invalid_exact_evm_insufficient_balance")
    assert.match(String(refused.json["message"]), /Fund it and sign again\. This request charged nothing\.$/u)
    yield* Effect.flatMap(LocalChain, ({ fund }) => fund(purchase.payer.address, Purchase.price))
    yield* broadcast(purchase)
    assert.strictEqual((yield* Purchase.send(url, purchase)).status, 201)
    yield* Purchase.assertSettled(url, purchase)
  })
})

apart("between verification and broadcast", proxiedServer("relayer", "10 seconds"), (it) => {
  it.on(proxiedServer("facilitator", "10 seconds"))(
    "emptying the wallet ends the payment when two inquiries agree",
    function* ({ facilitator, url }) {
      const purchase = yield* Purchase.prepare(url)
      const trap = facilitator.arm("holdBefore")
      const request = yield* Purchase.sendInto(trap, url, purchase)
      yield* leave(purchase.payer)
      yield* facilitator.calm
      yield* trap.release
      Purchase.assertPending(url, purchase, yield* Fiber.join(request))
      assert.strictEqual((yield* Purchase.secondInquiry(url, purchase)).status, 402)
      yield* Purchase.assertFailed(url, purchase, "invalid_exact_evm_insufficient_balance")
    },
  )

  it("an authorization that expires is never broadcast", function* ({ rpc, url }) {
    const purchase = yield* Purchase.prepare(url)
    const trap = rpc.arm("eth_estimateGas", "holdBefore")
    const request = yield* Purchase.sendInto(trap, url, purchase)
    yield* Purchase.passExpiry
    yield* rpc.calm
    yield* trap.release
    const answer = yield* Fiber.join(request)
    assert.strictEqual(answer.status, 402, answer.text)
    yield* Purchase.assertFailed(url, purchase, "authorization_expired")
  })

  it("a cancellation counts once it is final", function* ({ rpc, url }) {
    const purchase = yield* Purchase.prepare(url)
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
    const request = yield* Purchase.sendInto(trap, url, purchase)
    yield* cancel(purchase)
    yield* rpc.calm
    yield* trap.release
    Purchase.assertPending(url, purchase, yield* Fiber.join(request))
    yield* Purchase.mine(4)
    yield* Purchase.failsNow(url, purchase, "authorization_canceled")
  })
})
