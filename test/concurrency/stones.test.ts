/** A request that is repeated at once on two servers: one charge and one row. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { assertNone } from "../lab/Assertions.ts"
import { realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

layer(world(), realClock)("of concurrent requests for a stone on two servers,", (it) => {
  it.effect("200 with one key make one charge and one row", function* () {
    const { url } = yield* TestServer
    const purchase = yield* Purchase.prepare()
    const servers = [url, yield* anotherServer()]
    const answers = yield* Effect.forEach(
      Array.from({ length: 200 }, (_, index) => servers[index % 2] ?? url),
      (server) => Purchase.send({ ...purchase, server }),
      { concurrency: "unbounded" },
    )
    const statuses = Map.groupBy(answers, ({ status }) => status)
    assert.strictEqual(statuses.get(201)?.length, 1)
    assertNone([...statuses.keys()], (status) => ![200, 201, 202].includes(status))
    const end = yield* Purchase.storedAnswer(purchase)
    assert.strictEqual(end.status, 200)
    for (const replayed of statuses.get(200) ?? []) assert.strictEqual(replayed.text, end.text)
    yield* Purchase.assertSettled(purchase)
  })
})
