/** A short seeded form of `npm run campaign -- hostile`: what went wrong once in it goes wrong each time. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { loopback } from "../../lab/server/Rooms.ts"
import { layer as world, World } from "../../lab/Fixture.ts"
import { patience } from "../../lab/Patience.ts"
import { attack } from "./Attack.ts"

const stored = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql,
  ) => sql`SELECT (SELECT count(*) FROM payment_attempts) AS attempts, (SELECT count(*) FROM payment_claims) AS claims,
    (SELECT count(*) FROM acts) AS acts, (SELECT count(*) FROM payment_pools) AS pools`,
)

// Addresses are told, so that each has its own share.
layer(world({}, undefined, { trustedProxies: loopback }), { excludeTestServices: true })(
  "a server that is sent thousands of hostile requests",
  (it) => {
    it.effect(
      "answers each as the document says, none with 500, and sells nothing",
      () =>
        Effect.gen(function* () {
          const { url } = yield* World
          const before = yield* stored
          const { broken, faults, judged, requests } = yield* Effect.promise(() =>
            attack({ url, requests: 2_500, seed: "every time", connections: 4, patience: patience(30) }),
          )
          assert.deepStrictEqual(faults, [])
          assert.isAbove(judged, requests / 2)
          assert.isAbove(broken, 0)
          const rows = yield* Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`SELECT count(*)::int AS signals FROM room_messages`,
          )
          assert.isAbove(Number(rows[0]?.["signals"]), 0, "rooms were spoken in")
          assert.deepStrictEqual(yield* stored, before)
        }),
      patience(240),
    )
  },
)
