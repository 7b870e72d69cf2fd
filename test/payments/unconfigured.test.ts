/** A server that takes no payments any more still tells how those ended that were made before, and never falls over. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import * as Server from "../../src/server/Server.ts"
import { ask, configOf, layer as world, newCommitment, newKey, newPayer, pay, World } from "../lab/Fixture.ts"

layer(world(), { excludeTestServices: true })("a server that lost its payment configuration", (it) => {
  it.effect("replays what was settled, and says that it cannot offer a failed purchase anew", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const sql = yield* SqlClient.SqlClient
      const config = yield* configOf({}, { payments: ["PAY_TO"] })
      yield* Layer.build(Layer.fresh(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config)))))
      const key = newKey()
      const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() }, key)
      assert.strictEqual(answer.status, 201, answer.text)
      const reconcile = Effect.suspend(() => ask(`${config.publicUrl}/api/reconcile/${key}`, { method: "POST" }))

      const settled = yield* reconcile
      assert.strictEqual(settled.status, 200)
      assert.strictEqual(settled.text, answer.text.replace(/false\}$/u, "true}"))

      yield* sql`
        UPDATE payment_attempts SET state = 'failed', reason = 'authorization_expired', answer = NULL
        WHERE idempotency_key = ${key}`
      const failed = yield* reconcile
      assert.deepStrictEqual([failed.status, failed.json["code"]], [503, "payments_unavailable"], failed.text)
    }),
  )
})
