/** The altar's free POST routes are limited by address, to the request, and a refusal says how long to wait. */
import { Effect } from "effect"
import { ask, layer as world, newCommitment, newKey, post } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const salt = "a salt of sixteen or more"

suite("a free POST route", world(), (it) => {
  it("allows 60 guesses a minute, reveals and unseals together", function* ({ url }) {
    const routes = [
      [`/api/witness/${id}/reveal`, { salt, text: "x" }],
      [`/api/candles/${id}/unseal`, { salt, words: "x" }],
    ] as const
    const answers = yield* Effect.forEach(
      Array.from({ length: 80 }, (_, index) => routes[index % 2] ?? routes[0]),
      ([path, body]) => ask(`${url}${path}`, post(body)),
      { concurrency: 16 },
    )
    const statuses = Map.groupBy(answers, (answer) => answer.status)
    assert.deepStrictEqual([statuses.get(404)?.length, statuses.get(429)?.length], [60, 20])
    for (const refused of statuses.get(429) ?? []) {
      assert.strictEqual(refused.json["code"], "rate_limited")
      assert.match(String(refused.json["message"]), /60 reveals and unseals per minute/u)
      assert.strictEqual(refused.headers.get("retry-after"), String(refused.json["retryAfter"]))
      assert.isTrue(Number(refused.json["retryAfter"]) >= 1 && Number(refused.json["retryAfter"]) <= 60)
    }
  })

  it("always has a limit", function* ({ url }) {
    const answers = yield* Effect.forEach(
      Array.from({ length: 300 }),
      () => ask(`${url}/api/witness`, post({ commitment: newCommitment() }, { "idempotency-key": newKey() })),
      { concurrency: 32 },
    )
    assert.deepStrictEqual([...new Set(answers.map((answer) => answer.status))], [402])
  })
})
