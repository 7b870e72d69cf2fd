/** A node, a database or a client that goes away never costs a payer a stone, and is never the payer's fault. */
import { Effect, Fiber } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { ask } from "../lab/Fixture.ts"
import { apart, assert, assertAnswer, describe, live } from "../lab/Suites.ts"

apart("a database that drops its connection", proxiedServer("relayer", "20 seconds"), (it) => {
  // I11
  it("after the COMMIT of a stone has recorded that stone", function* ({ database, url }) {
    const purchase = yield* Purchase.prepare(url)
    database.arm(/^COMMIT$/u, "cutAfter")
    const answer = yield* Purchase.send(url, purchase)
    assertAnswer(answer, 503, "unavailable")
    assert.match(String(answer.json["message"]), /do not sign another/u)
    yield* database.calm
    yield* Purchase.assertSettled(url, purchase)
    yield* Purchase.assertNextStone(url)
  })

  // I11
  it("before the COMMIT of a stone has not recorded it, and reconciling records it", function* ({ database, url }) {
    const purchase = yield* Purchase.prepare(url)
    database.arm(/^COMMIT$/u, "cutBefore")
    const answer = yield* Purchase.send(url, purchase)
    assertAnswer(answer, 503, "unavailable")
    assert.deepInclude(yield* Purchase.books(purchase), { charged: 1, acts: 0, stones: 0, state: "pending" })
    yield* database.calm
    yield* Purchase.settlesNow(url, purchase)
    yield* Purchase.assertNextStone(url)
  })

  it("before the intent is stored leaves no attempt, and the payment valid", function* ({ database, url }) {
    const purchase = yield* Purchase.prepare(url)
    database.arm(/INSERT INTO payment_attempts/u, "cutBefore")
    const answer = yield* Purchase.send(url, purchase)
    assertAnswer(answer, 503, "unavailable")
    assert.strictEqual(yield* Purchase.attemptOf(purchase), undefined)
    yield* database.calm
    const again = yield* Purchase.send(url, purchase)
    assert.strictEqual(again.status, 201, again.text)
    yield* Purchase.assertSettled(url, purchase)
  })
})

describe("a client that disconnects during settlement", { concurrent: true }, () => {
  for (const settledBy of ["relayer", "facilitator"] as const) {
    live(`finds its stone by its key (${settledBy})`, () =>
      Effect.gen(function* () {
        const { facilitator, purchase, rpc, url } = yield* signedFixture
        const trap =
          settledBy === "relayer" ? rpc.arm("eth_sendRawTransaction", "holdBefore") : facilitator.arm("holdBefore")
        const request = yield* Purchase.sendInto(trap, url, purchase)
        yield* Fiber.interrupt(request)
        // An answer to a later request: the server has seen by then that this client is gone.
        yield* ask(`${url}/livez`)
        yield* trap.release
        yield* Purchase.ended(purchase)
        yield* Purchase.assertSettled(url, purchase)
      }).pipe(Effect.provide(proxiedServer(settledBy, "20 seconds"))),
    )
  }
})
