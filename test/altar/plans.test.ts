/** The server's own statements read large tables by an index. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { Statement, SqlClient } from "effect/sql"
import { createActs, sandbox } from "../lab/browser/Guide.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"

const statements = new Map<string, ReadonlyArray<unknown>>()

const watched = Layer.succeed(Statement.CurrentTransformer, (statement) => {
  const [text, parameters] = statement.compile()
  if (/^\s*(?:WITH|SELECT)\b/u.test(text) && !/\b(?:INSERT|UPDATE|DELETE|FOR UPDATE)\b/u.test(text))
    statements.set(text, parameters)
  return Effect.succeed(statement)
})

/** Tables that grow with each sale or visitor. */
const large =
  /Seq Scan on (payment_attempts|acts|witness_stones|prayers|keepers|candles|collectibles|publications|reveals|rooms)\b/u

layer(sandbox().pipe(Layer.provide(watched)), realClock)("a server", (it) => {
  it.effect("reads no large table whole", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { kept, stone } = yield* createActs
    statements.clear()
    const wallet = `0x${"a".repeat(40)}`
    for (const path of [
      "/api/acts?limit=20",
      `/api/acts/${kept.id}`,
      "/api/candles?limit=20",
      "/api/witness?limit=20",
      `/api/witness/${stone.id}`,
      "/api/witness/chain?from=1&limit=50",
      "/api/publish-chain?from=1&limit=50",
      `/v2/acts?q=${wallet}`,
      `/api/wallets/${wallet}`,
      `/v2/wallets/${wallet}?before=7`,
      `/v2/acts?q=0x${"b".repeat(64)}`,
      "/v2/acts?q=1",
    ])
      yield* ask(`${url}${path}`)
    for (const table of ["acts", "candles", "payment_attempts", "publications", "witness_stones"])
      assert.include([...statements.keys()].join("\n"), table)
    const plans = yield* sql.withTransaction(
      Effect.gen(function* () {
        // Tables this small are read whole whatever indexes there are.
        yield* sql`SET LOCAL enable_seqscan = off`
        return yield* Effect.forEach(statements, ([text, parameters]) =>
          Effect.map(sql.unsafe(`EXPLAIN ${text}`, parameters), (plan) => ({ text, plan: JSON.stringify(plan) })),
        )
      }),
    )
    assert.deepStrictEqual(
      plans.flatMap(({ plan, text }) => (large.test(plan) ? [`${large.exec(plan)?.[1]}: ${text}`] : [])),
      [],
    )
  })
})
