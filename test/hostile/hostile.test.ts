/** A short seeded form of `npm run hostile`: what went wrong once in it goes wrong each time. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { World, layer as world } from "../support/World.ts"
import { patience } from "../support/Patience.ts"
import { campaign } from "./Campaign.ts"

const stored = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql,
  ) => sql`SELECT (SELECT count(*) FROM payment_attempts) AS attempts, (SELECT count(*) FROM payment_claims) AS claims,
    (SELECT count(*) FROM acts) AS acts, (SELECT count(*) FROM payment_pools) AS pools`,
)

layer(world(), { excludeTestServices: true })("a server that is sent thousands of hostile requests", (it) => {
  it.effect(
    "answers each as the document says, none with 500, and sells nothing",
    () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const before = yield* stored
        const { broken, faults, judged, requests } = yield* Effect.promise(() =>
          campaign({ url, requests: 2_500, seed: "every time", connections: 4, patience: patience(30) }),
        )
        assert.deepStrictEqual(faults, [])
        assert.isAbove(judged, requests / 2)
        assert.isAbove(broken, 0)
        assert.deepStrictEqual(yield* stored, before)
      }),
    patience(240),
  )
})
