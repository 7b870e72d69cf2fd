/** A facilitator that cannot be asked, or does not settle: nothing is claimed. One that goes away afterwards: nothing is lost. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { type Answer, ask, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

const still = proxiedServer("facilitator")
const sweeping = proxiedServer("facilitator", "1 second", "200 millis")

const assertAway = (answer: Answer) => {
  assertAnswer(answer, 503, "facilitator_unavailable")
  assert.match(
    String(answer.json["message"]),
    /^The facilitator does not confirm that .*\. Send the same request again later\. This request charged nothing\.$/u,
  )
}

/** Its last word was that it settles, which is believed for some seconds. */
const saysThatItSettles = Effect.gen(function* () {
  const { url } = yield* TestServer
  assert.strictEqual((yield* ask(`${url}/readyz`)).status, 200)
})

const attemptOf = (purchase: Purchase.Purchase) =>
  Effect.map(Purchase.attemptOf(purchase), (attempt) => attempt ?? assert.fail("there is no attempt"))

/** It was claimed an hour ago, and is due. */
const anHourLater = Effect.fnUntraced(function* ({ key }: Purchase.Purchase) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE payment_attempts SET next_check_at = now(), accepted_at = accepted_at - interval '1 hour'
    WHERE idempotency_key = ${key}`.pipe(Effect.orDie)
})

apart("after the claim, a facilitator that", sweeping, (it) => {
  it.on(still)(
    "accepts no connection received nothing, so the attempt ends at once",
    function* ({ database, facilitator, url }) {
      const purchase = yield* Purchase.prepare(url)
      const another = yield* Purchase.prepare(url)
      yield* saysThatItSettles
      // It leaves once it is believed, not when its last word is so old that it is asked again.
      const intent = database.arm(/INSERT INTO payment_attempts/u, "holdBefore")
      const request = yield* Purchase.sendInto(intent, url, purchase)
      yield* facilitator.leave
      yield* database.calm
      yield* intent.release
      const answer = yield* Fiber.join(request)
      assertAnswer(answer, 402, "payment_failed", "facilitator_unreachable")
      assert.match(
        String(answer.json["message"]),
        /^The facilitator .* not submitted\. This request charged nothing; .* Start again later with a new Idempotency-Key\.$/u,
      )
      assert.strictEqual(facilitator.asked(), 0)
      assertAway(yield* Purchase.send(url, another))
      yield* facilitator.comeBack
      yield* ask(`${url}/readyz`).pipe(until("it is never ready again", ({ status }) => status === 200))
      yield* Purchase.assertFailed(url, purchase, "facilitator_unreachable")
    },
  )

  // I13
  it.on(proxiedServer("facilitator", "20 seconds", "200 millis"))(
    "gets a payment again is called by one inquiry at a time, however often the client asks",
    function* ({ facilitator, sql, url }) {
      const purchase = yield* Purchase.prepare(url)
      facilitator.arm("nonsenseBefore")
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
      assert.strictEqual(facilitator.asked(), 1, "a client's question hands nothing in")
      const trap = facilitator.arm("holdBefore")
      yield* anHourLater(purchase)
      yield* trap.arrived
      Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      const held = yield* sql`SELECT id FROM payment_attempts WHERE next_check_at > now() + interval '30 seconds'`
      assert.strictEqual(held.length, 1)
      yield* trap.release
      yield* Purchase.ended(purchase)
      assert.strictEqual(facilitator.asked(), 2)
      yield* Purchase.assertSettled(url, purchase)
    },
  )

  it("refused a payment, or named its transaction, does not get it again", function* ({ facilitator, url }) {
    const purchases = [yield* Purchase.prepare(url), yield* Purchase.prepare(url)]
    for (const [index, fault] of (["refuseBefore", "imagineBefore"] as const).entries()) {
      const purchase = purchases[index] ?? assert.fail()
      facilitator.arm(fault)
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
    }
    yield* facilitator.calm
    for (const purchase of purchases) {
      yield* Effect.andThen(anHourLater(purchase), attemptOf(purchase)).pipe(
        until("no sweep inquires", ({ checks }) => checks >= 4, 60),
      )
    }
    assert.strictEqual(facilitator.asked(), 2)
  })
})
