/** A server that takes no payments any more still tells how those ended that were made before, and never falls over. */
import { Effect } from "effect"
import { ask, layer as world, newCommitment, newKey, newPayer, pay } from "../lab/Fixture.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, assertAnswer, suite } from "../lab/Suites.ts"

suite("a server that lost its payment configuration", world(), (it) => {
  it("replays settled purchases, and says that it cannot offer a failed purchase again", function* ({ sql, url }) {
    const unpaid = yield* anotherServer({}, { payments: ["PAY_TO"] })
    const key = newKey()
    const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() }, key)
    assert.strictEqual(answer.status, 201, answer.text)
    const reconcile = Effect.suspend(() => ask(`${unpaid}/api/reconcile/${key}`, { method: "POST" }))

    const settled = yield* reconcile
    assert.strictEqual(settled.status, 200)
    assert.strictEqual(settled.text, answer.text.replace(/false\}$/u, "true}"))

    yield* sql`
        UPDATE payment_attempts SET state = 'failed', reason = 'authorization_expired', answer = NULL
        WHERE idempotency_key = ${key}`
    const failed = yield* reconcile
    assertAnswer(failed, 503, "payments_unavailable")
  })
})
