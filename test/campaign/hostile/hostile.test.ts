/** A short seeded form of `npm run campaign -- hostile`: a failure in it is reproducible. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layer as world, TestServer } from "../../lab/Fixture.ts"
import { attack } from "../../lab/hostile/Attack.ts"
import { patience } from "../../lab/Patience.ts"
import { loopback } from "../../lab/server/Rooms.ts"
import { assert, suite } from "../../lab/Suites.ts"

/** Rows of every table but those of rooms and limits. */
const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      AND relname !~ '^(rooms|room_messages|rate_limits.*)$' ORDER BY 1`
  assert.isAbove(tables.length, 15)
  return yield* sql.unsafe(tables.map(({ name }) => `SELECT '${name}', count(*) FROM "${name}"`).join(" UNION ALL "))
})

// Addresses are told, so that each has its own share.
suite("a server under thousands of hostile requests", world({}, undefined, { trustedProxies: loopback }), (it) => {
  it("answers each as the document says, none with 500, and sells nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const before = yield* stored
      const { broken, faults, judged, requests } = yield* Effect.promise(() =>
        attack({ url, requests: 2_500, seed: "every time", connections: 4, patience: patience(30) }),
      )
      assert.deepStrictEqual(faults, [])
      assert.isAbove(judged, requests / 2)
      assert.isAbove(broken, 0)
      const [{ signals } = { signals: 0 }] = yield* sql<{ signals: number }>`
        SELECT count(*)::int AS signals FROM room_messages`
      assert.isAbove(signals, 0, "rooms were spoken in")
      assert.deepStrictEqual(yield* stored, before)
    }))
})
