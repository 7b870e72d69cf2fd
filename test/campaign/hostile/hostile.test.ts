/** A short seeded form of `npm run campaign -- hostile`: a failure in it is reproducible. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../src/server/config/Config.ts"
import * as Server from "../../../src/server/Server.ts"
import { configOf, layer as world, TestServer } from "../../lab/Fixture.ts"
import { until } from "../../lab/Eventually.ts"
import { attack } from "../../lab/hostile/Attack.ts"
import { patience } from "../../lab/Patience.ts"
import { loopback, newRoom, poll, send } from "../../lab/server/Rooms.ts"
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
  it("answers each as the document says, none with 500, sells nothing, and leaves nothing after the next sweep", () =>
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
      const rows = sql<{ rooms: number; signals: number; counts: number }>`
            SELECT (SELECT count(*)::int FROM rooms) AS rooms, (SELECT count(*)::int FROM room_messages) AS signals,
              (SELECT count(*)::int FROM rate_limits WHERE idle_from < now() - interval '1 day') AS counts`
      const [left] = yield* rows
      assert.isAbove(left?.signals ?? 0, 0, "rooms were spoken in")
      assert.deepStrictEqual(yield* stored, before)

      // As if rooms had lived and addresses rested long enough; one room is opened after that.
      yield* sql`UPDATE rooms SET created_at = created_at - interval '8 days', expires_at = expires_at - interval '8 days'`
      yield* sql`UPDATE rate_limits SET idle_from = idle_from - interval '3 days'`
      const guest = yield* newRoom(url)
      assert.strictEqual((yield* send(guest)).status, 201)
      const next = Layer.succeed(AppConfig, yield* configOf({}, { trustedProxies: loopback }))
      yield* Layer.build(Layer.fresh(Server.layer(Layer.empty).pipe(Layer.provide(next))))
      yield* rows.pipe(
        until("rows of what is over stay", ([now]) => now?.rooms === 1 && now.signals === 1 && now.counts === 0),
      )
      assert.strictEqual((yield* poll(guest)).status, 200)
    }).pipe(Effect.scoped))
})
