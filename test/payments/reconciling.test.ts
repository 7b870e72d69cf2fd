/** What a client's question costs, and whom it keeps waiting: looks are shared and rest, and each rail is swept by itself. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import * as Server from "../../src/server/Server.ts"
import { cardsOf, prepare, processor, Processor, send } from "../lab/buyer/Cards.ts"
import { patience } from "../lab/Patience.ts"
import { neighbours, proxiedServer, Proxies, stage } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"
import { configOf, World } from "../lab/Fixture.ts"

/** Characters of the call that asks whether an authorization is used: a selector and two words. */
const stateCall = 2 + 8 + 2 * 64

describe("an open attempt", () => {
  it.live(
    "is looked at once for all who ask, then not for a while, and what another server finds is told at once",
    () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const { rpc } = yield* Proxies
        const purchase = yield* Purchase.prepare(url)
        rpc.arm("eth_sendRawTransaction", "dropBefore")
        Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
        rpc.behave(() => ({}))
        const nonce = purchase.nonce.slice(2)
        const looks = () =>
          rpc
            .heard()
            .filter(({ method, params }) => method === "eth_call" && JSON.stringify(params).includes(nonce))
            .filter(({ params = [] }) => String(Object(params[0])["data"]).length === stateCall).length
        const many = Effect.forEach(Array.from({ length: 6 }), () => Purchase.reconcile(url, purchase), {
          concurrency: "unbounded",
        })
        for (const answer of yield* many) Purchase.assertPending(url, purchase, answer)
        assert.strictEqual(looks(), 1)
        Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
        assert.strictEqual(looks(), 1)

        yield* ThirdParty.broadcast(purchase)
        Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
        const [other = ""] = yield* neighbours(1, "relayer")
        assert.strictEqual((yield* Purchase.reconcile(other, purchase)).status, 200)
        yield* Purchase.assertSettled(url, purchase)
      }).pipe(Effect.provide(proxiedServer("relayer", "1 second", "1 hour", 50, { lookEvery: Duration.hours(1) }))),
  )
})

const soon = (key: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(sql`UPDATE payment_attempts SET next_check_at = now() WHERE idempotency_key = ${key}`),
  )

/** A server that takes cards and sweeps at every moment, and that waits long for whoever hangs. */
const sweeping = Layer.effect(
  World,
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
    return World.of({ url: config.publicUrl })
  }),
).pipe(Layer.provideMerge(Layer.merge(stage, processor)), Layer.orDie)

describe("a card processor that hangs", () => {
  it.live("keeps no attempt waiting that is paid on chain", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { database } = yield* Proxies
      const bank = yield* Processor
      const card = yield* prepare(url)
      const hanging = bank.arm("holdBefore")
      yield* Effect.forkScoped(Effect.exit(send(card)))
      yield* hanging.arrived
      yield* soon(card.key)
      yield* Effect.sync(() => bank.asked().charges).pipe(
        Effect.repeat({ until: (charges) => charges === 2, schedule: Schedule.spaced("20 millis") }),
        Effect.timeoutOrElse({ duration: patience(30), orElse: () => Effect.die("no sweep asked for the charge") }),
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
    }).pipe(Effect.provide(sweeping)),
  )
})
