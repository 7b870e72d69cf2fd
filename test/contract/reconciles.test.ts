/** Asking how a payment ended may ask the chain: 240 a minute from one address, and the refusal says how long to wait. */
import { Effect } from "effect"
import { ask, layer as world, newKey } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

suite("reconcile requests", world(), (it) => {
  it("are answered 240 times a minute", function* ({ url }) {
    const answers = yield* Effect.forEach(
      Array.from({ length: 260 }),
      () => ask(`${url}/api/reconcile/${newKey()}`, { method: "POST" }),
      { concurrency: 32 },
    )
    const statuses = Map.groupBy(answers, ({ status }) => status)
    assert.deepStrictEqual([statuses.get(404)?.length, statuses.get(429)?.length], [240, 20])
    for (const { headers, json } of statuses.get(429) ?? []) {
      assert.match(String(json["message"]), /240 reconciles per minute .* this request charged and changed nothing\.$/u)
      assert.strictEqual(headers.get("retry-after"), String(json["retryAfter"]))
    }
  })
})
