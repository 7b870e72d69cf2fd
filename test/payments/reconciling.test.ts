/** The cost of a client's reconcile request: looks are shared and rest, and each rail is swept by itself. */
import { Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import * as Server from "../../src/server/Server.ts"
import { cardsOf, prepare, processor, Processor, send } from "../lab/buyer/Cards.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { configOf, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert } from "../lab/Suites.ts"

const soon = (key: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(sql`UPDATE payment_attempts SET next_check_at = now() WHERE idempotency_key = ${key}`),
  )

/** A server that takes cards and sweeps at every moment, and that waits long for a hanging service. */
const sweeping = Layer.effect(
  TestServer,
  Effect.gen(function* () {
    const { database, rpc } = yield* Proxies
    const config = yield* configOf(
      {
        cards: cardsOf(yield* Processor),
        rpcUrl: Redacted.make(rpc.url),
        patience: Duration.minutes(10),
        sweepEvery: Duration.millis(50),
      },
      { databaseUrl: Redacted.make(database.url) },
    )
    const server = Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config)))
    yield* Layer.build(Layer.fresh(server))
    return TestServer.of({ url: config.publicUrl })
  }),
).pipe(Layer.provideMerge(Layer.merge(stage, processor)), Layer.orDie)

apart("a card processor that hangs", sweeping, (it) => {
  it("delays no attempt that is paid on chain", function* ({ database, url }) {
    const bank = yield* Processor
    const card = yield* prepare(url)
    const hanging = bank.arm("holdBefore")
    yield* Effect.forkScoped(Effect.exit(send(card)))
    yield* hanging.arrived
    yield* soon(card.key)
    yield* Effect.sync(() => bank.asked().charges).pipe(
      until("no sweep asked for the charge", (charges) => charges === 2),
    )
    const purchase = yield* Purchase.prepare(url)
    database.arm(/INSERT INTO payment_attempts/u, "cutAfter")
    assert.strictEqual((yield* Purchase.send(url, purchase)).status, 503)
    yield* database.calm
    yield* soon(purchase.key)
    yield* Purchase.ended(purchase)
    assert.deepInclude(yield* Purchase.attemptOf(purchase), { state: "settled" })
    assert.deepStrictEqual(bank.taken(), [])
    yield* hanging.discard
  })
})
