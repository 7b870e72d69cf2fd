/** Many at once on two servers: one charge and one row, gapless, and as much money on the chain as there are rows. */
import { Effect } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { layer as world, newKey } from "../lab/Fixture.ts"
import { loopback } from "../lab/server/Rooms.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, assertNone, suite } from "../lab/Suites.ts"

/** A payment sent 200 times, to two servers in turn. */
const sent = Effect.fnUntraced(function* (
  url: string,
  purchase: Purchase.Purchase,
  headersOf: (index: number) => Record<string, string>,
) {
  const second = yield* anotherServer({}, { trustedProxies: loopback })
  return yield* Effect.forEach(
    Array.from({ length: 200 }, (_, index) => index),
    (index) =>
      Purchase.send(index % 2 === 0 ? url : second, {
        ...purchase,
        headers: { ...purchase.headers, ...headersOf(index) },
      }),
    { concurrency: "unbounded" },
  )
})

suite("of concurrent requests for stones,", world({}, undefined, { trustedProxies: loopback }), (it) => {
  it("200 with one key make one charge and one row", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url)
    const statuses = Map.groupBy(yield* sent(url, purchase, () => ({})), ({ status }) => status)
    assert.strictEqual(statuses.get(201)?.length, 1)
    assertNone([...statuses.keys()], (status) => ![200, 201, 202].includes(status))
    const end = yield* Purchase.storedAnswer(url, purchase)
    assert.strictEqual(end.status, 200)
    for (const replayed of statuses.get(200) ?? []) assert.strictEqual(replayed.text, end.text)
    yield* Purchase.assertSettled(url, purchase)
  })

  it("200 with different keys and one authorization are charged once, and the others are refused", function* ({ url }) {
    const purchase = yield* Purchase.prepare(url)
    // Each from an address of its own: refused payments are limited by address.
    const answers = yield* sent(url, purchase, (index) => ({
      "idempotency-key": newKey(),
      "x-forwarded-for": `198.51.100.${index}`,
    }))
    const ended = Map.groupBy(answers, (answer) => `${answer.status} ${String(answer.json["code"] ?? "")}`)
    assert.strictEqual(ended.get("201 ")?.length, 1, JSON.stringify([...ended].map(([k, v]) => [k, v.length])))
    assert.strictEqual(ended.get("409 payment_authorization_already_bound")?.length, 199)
    assert.strictEqual((yield* Purchase.charges(purchase)).charged, 1)
    yield* Purchase.audit(url)
  })
})
