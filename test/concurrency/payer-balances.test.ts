/** One cent, 140 purchases, two servers: what one server has claimed for a wallet, the other one counts. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import * as Server from "../../src/server/Server.ts"
import { patience } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { ask, configOf, layer as world, newKey, newPayer, post, World } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { loopback } from "../lab/server/Rooms.ts"

const path = "/api/elements/pixel-bit-frog/collect"

/** Paid requests of one wallet that holds one cent, each with an authorization of its own. */
const prepare = Effect.fnUntraced(function* (url: string, count: number) {
  const payer = yield* newPayer(Purchase.price)
  const challenge = challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
  return yield* Effect.forEach(
    Array.from({ length: count }),
    () => Effect.map(sign(payer, challenge.accepts[0], challenge.resource), encode),
    { concurrency: 20 },
  )
})

/** Each from an address of its own: refused payments are limited by address. */
const buy = (server: string | undefined, signature: string, index: number) =>
  ask(
    `${server}${path}`,
    post(
      {},
      {
        "idempotency-key": newKey(),
        "payment-signature": signature,
        "x-forwarded-for": `198.51.100.${index}`,
      },
    ),
  )

/** The server of this world and a second one on its database and chain, as behind a balancer. */
const bothServers = Effect.gen(function* () {
  const { url } = yield* World
  const config = yield* configOf(
    { patience: Duration.millis(patience(2)) },
    { publicUrl: url, trustedProxies: loopback },
  )
  // Fresh: nothing of the first server is shared, no connection and no service.
  yield* Layer.build(Layer.fresh(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config)))))
  return [url, `http://127.0.0.1:${config.port}`]
})

const held = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ attempts: number; highest: number }>`
    SELECT (SELECT count(*)::int FROM payment_attempts) AS attempts,
      (SELECT highest FROM payment_pools WHERE name = 'edition:pixel-bit-frog') AS highest`,
).pipe(Effect.map((rows) => rows[0]))

layer(world({ patience: Duration.millis(patience(2)) }, undefined, { trustedProxies: loopback }), {
  excludeTestServices: true,
})("a wallet with one cent", (it) => {
  it.effect("holds one edition on two servers while its payment is on its way", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const servers = yield* bothServers
      const payments = yield* prepare(url, 140)
      yield* Purchase.onChain((client) => client.setAutomine(false))
      const answers = yield* Effect.forEach(payments, (signature, index) => buy(servers[index % 2], signature, index), {
        concurrency: "unbounded",
      })
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepStrictEqual(statuses, [202, ...Array.from({ length: 139 }, () => 402)])
      assert.deepStrictEqual(yield* held, { attempts: 1, highest: 1 })
      yield* Purchase.onChain((client) => client.setAutomine(true))
    }),
  )

  it.effect("buys once when both servers begin a claim before either has ended its own", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const sql = yield* SqlClient.SqlClient
      const servers = yield* bothServers
      yield* sql`INSERT INTO payment_pools (name, drawn, highest) VALUES ('edition:pixel-bit-frog', 0, 0) ON CONFLICT DO NOTHING`
      const before = yield* held
      const payments = yield* prepare(url, 2)
      const release = yield* Deferred.make<void>()
      const isHeld = yield* Deferred.make<void>()
      // Whoever draws a number waits here, in the middle of its claim.
      const holder = yield* sql`SELECT name FROM payment_pools WHERE name = 'edition:pixel-bit-frog' FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(isHeld, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkScoped,
      )
      yield* Deferred.await(isHeld)
      const buying = yield* Effect.forEach(payments, (signature, index) =>
        Effect.forkScoped(buy(servers[index], signature, index)),
      )
      yield* sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.pipe(
        Effect.repeat({ until: (rows) => rows.length === 2, schedule: Schedule.spaced("20 millis") }),
        Effect.timeoutOrElse({ duration: patience(30), orElse: () => Effect.die("nobody waits") }),
      )
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      const statuses = (yield* Effect.forEach(buying, Fiber.join)).map(({ status }) => status).sort()
      assert.deepStrictEqual(statuses, [201, 402])
      assert.deepStrictEqual(yield* held, {
        attempts: (before?.attempts ?? 0) + 1,
        highest: (before?.highest ?? 0) + 1,
      })
    }),
  )
})
