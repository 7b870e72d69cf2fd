/** One cent, 140 purchases, two servers: what one server has claimed for a wallet, the other one counts. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/Config.ts"
import * as Server from "../../src/Server.ts"
import * as Purchase from "../support/Purchase.ts"
import {
  ask,
  challengeOf,
  configOf,
  encode,
  newKey,
  newPayer,
  post,
  sign,
  World,
  layer as world,
} from "../support/World.ts"

layer(world({ patience: Duration.seconds(2) }), { excludeTestServices: true })("a wallet with one cent", (it) => {
  it.effect("holds one edition on two servers while its payment is on its way", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const sql = yield* SqlClient.SqlClient
      const config = yield* configOf({ patience: Duration.seconds(2) }, { publicUrl: url })
      yield* Layer.build(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config))))
      const servers = [url, `http://127.0.0.1:${config.port}`]
      const path = "/api/elements/pixel-bit-frog/collect"
      const payer = yield* newPayer(Purchase.price)
      const challenge = challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
      const payments = yield* Effect.forEach(
        Array.from({ length: 140 }),
        () => Effect.map(sign(payer, challenge.accepts[0], challenge.resource), encode),
        { concurrency: 20 },
      )
      yield* Purchase.onChain((client) => client.setAutomine(false))
      const answers = yield* Effect.forEach(
        payments,
        (signature, index) =>
          ask(
            `${servers[index % 2]}${path}`,
            post({}, { "idempotency-key": newKey(), "payment-signature": signature }),
          ),
        { concurrency: "unbounded" },
      )
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepStrictEqual(statuses, [202, ...Array.from({ length: 139 }, () => 402)])
      const rows = yield* sql<{ n: number; highest: number }>`
        SELECT (SELECT count(*)::int FROM payment_attempts) AS n,
          (SELECT highest FROM payment_pools WHERE name = 'edition:pixel-bit-frog') AS highest`
      assert.deepStrictEqual(rows, [{ n: 1, highest: 1 }])
      yield* Purchase.onChain((client) => client.setAutomine(true))
    }),
  )
})
