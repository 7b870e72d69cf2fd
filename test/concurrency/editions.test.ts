/** 300 buyers race for the last 3 editions on two servers: three get one each, and no answer ever fails to add up. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { ask, layer as world, newKey, newPayer, post, read } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { suite } from "../lab/Suites.ts"

interface Item {
  readonly id: string
  readonly editionSize: number
  readonly issued: number
  readonly reserved: number
  readonly remaining: number
}

const pixels = (url: string) =>
  Effect.map(ask(`${url}/api/pixels`), (answer): ReadonlyArray<Item> => JSON.parse(answer.text).pixels)

suite("the last three editions", world(), (it) => {
  it("go to three of 300 buyers", function* ({ sql, url }) {
    const servers = [url, yield* anotherServer()]
    const path = "/api/elements/pixel-bit-frog/collect"
    // 125 of 128 are held by attempts of earlier; numbers 7, 50 and 128 are left.
    yield* sql`INSERT INTO payment_pools (name, drawn, highest, released) VALUES ('edition:pixel-bit-frog', 127, 127, ARRAY[7, 50])`

    const payers = yield* Effect.forEach(Array.from({ length: 60 }), () => newPayer(), { concurrency: 10 })
    const challenge = challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
    const payments = yield* Effect.forEach(
      Array.from({ length: 5 }, () => payers).flat(),
      (payer) => Effect.map(sign(payer, challenge.accepts[0], challenge.resource), encode),
      { concurrency: 20 },
    )
    const seen: Array<Item> = []
    const watch = Effect.map(pixels(url), (items) => {
      seen.push(...items)
    })
    const answers = yield* Effect.forEach(
      payments,
      (signature, index) =>
        Effect.andThen(
          index % 50 === 25 ? watch : Effect.void,
          ask(
            `${servers[index % 2]}${path}`,
            post({}, { "idempotency-key": newKey(), "payment-signature": signature }),
          ),
        ),
      { concurrency: "unbounded" },
    )

    const codes = Map.groupBy(answers, (answer) => `${answer.status} ${String(answer.json["code"] ?? "")}`)
    assert.deepStrictEqual([...codes].map(([code, all]) => [code, all.length]).sort(), [
      ["201 ", 3],
      ["409 sold_out", 297],
    ])
    const editions = (codes.get("201 ") ?? []).map((answer) => JSON.parse(answer.text).record.edition)
    assert.deepStrictEqual(
      editions.sort((a, b) => a - b),
      [7, 50, 128],
    )
    assert.lengthOf(seen, 36)
    for (const item of seen) assert.strictEqual(item.issued + item.reserved + item.remaining, item.editionSize, item.id)
    const frog = (yield* pixels(url)).find((item) => item.id === "pixel-bit-frog")
    assert.deepStrictEqual([frog?.issued, frog?.reserved, frog?.remaining], [3, 125, 0])

    const chain = yield* read("/api/publish-chain?limit=100")
    const acquired = chain.entries.filter((entry: { type: string }) => entry.type === "edition")
    assert.deepStrictEqual(
      acquired.map((entry: { edition: number }) => entry.edition).sort((a: number, b: number) => a - b),
      [7, 50, 128],
    )
  })
})
