/** Killed without warning between intent and answer, a server charges exactly once or not at all, and says so afterwards. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { proxied } from "../lab/server/Environment.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { type Point, points, type Stop } from "./CrashPoints.ts"
import { until } from "../lab/Eventually.ts"
import { assert, describe, live } from "../lab/Suites.ts"

const environment = (point: Point) =>
  Effect.gen(function* () {
    const { facilitator } = yield* Proxies
    const { RELAYER_KEY, ...others } = yield* proxied
    const env: Record<string, string> = {
      ...others,
      CHAIN_FINALITY: "finalized",
      SETTLE_TIMEOUT_SECONDS: "20",
      SWEEP_SECONDS: point.concludedBy === "sweeper" ? "1" : "3600",
      LOG_LEVEL: "Info",
      ...(point.settledBy === "facilitator" ? { FACILITATOR_URL: facilitator.url } : { RELAYER_KEY }),
    }
    return env
  })

/** Waits until the database has noticed the death: a start asks for nothing that the dead server still has locked. */
const letGo = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM payment_attempts FOR UPDATE`).pipe(
  Effect.orDie,
)

/** Waits until an inquiry found no evidence. */
const lookedAt = (purchase: Purchase.Purchase) =>
  Purchase.attemptOf(purchase).pipe(until("the first look never came", (attempt) => (attempt?.checks ?? 0) > 0))

/** Waits until another inquiry left it pending. */
const lookedAgain = Effect.fnUntraced(function* (url: string, purchase: Purchase.Purchase) {
  const before = (yield* Purchase.attemptOf(purchase))?.checks ?? 0
  yield* Purchase.reconcile(url, purchase).pipe(
    Effect.tap((answer) => Effect.sync(() => Purchase.assertPending(url, purchase, answer))),
    Effect.andThen(Purchase.attemptOf(purchase)),
    until("no sweep inquired again", (attempt) => (attempt?.checks ?? 0) > before),
  )
})

/** `Purchase.secondLook` at a server that rests between looks. */
const secondLook = Effect.fnUntraced(function* (url: string, purchase: Purchase.Purchase) {
  yield* lookedAgain(url, purchase)
  yield* lookedAgain(url, purchase)
  yield* Purchase.afterNextSweep(purchase)
  return yield* Purchase.storedAnswer(url, purchase)
})

/** The node is silent while the server starts: the first look ends nothing, and leaves the attempt to others. */
const startBlind = Effect.fnUntraced(function* (server: ServerProcess.ServerProcess, purchase: Purchase.Purchase) {
  const { rpc } = yield* Proxies
  rpc.arm("*", "status500")
  yield* server.start
  yield* lookedAt(purchase)
  yield* rpc.calm
})

/** Only the named party finds evidence, and nothing ends before that. */
const conclude = Effect.fnUntraced(function* (
  point: Point,
  stop: Stop,
  server: ServerProcess.ServerProcess,
  purchase: Purchase.Purchase,
) {
  const evidence = point.evidence?.(stop, purchase) ?? Effect.void
  switch (point.concludedBy) {
    case "nobody":
      assert.strictEqual((yield* Purchase.attemptOf(purchase))?.state, "settled")
      return yield* server.start
    case "start":
      yield* evidence
      yield* server.start
      // One look fails nothing: the start an hour later agrees.
      if (point.ends === "failed") {
        yield* Purchase.doubted(purchase)
        assert.strictEqual((yield* Purchase.attemptOf(purchase))?.state, "pending")
        yield* server.kill
        yield* Purchase.afterNextSweep(purchase)
        yield* server.start
      }
      return yield* Purchase.ended(purchase)
    case "sweeper":
      yield* server.start
      yield* lookedAt(purchase)
      assert.strictEqual((yield* Purchase.attemptOf(purchase))?.state, "pending")
      yield* evidence
      return yield* Purchase.ended(purchase)
    case "client": {
      yield* startBlind(server, purchase)
      if (point.evidence !== undefined) {
        Purchase.assertPending(server.url, purchase, yield* Purchase.reconcile(server.url, purchase))
      }
      assert.strictEqual((yield* Purchase.attemptOf(purchase))?.state, "pending")
      yield* evidence
      const answer =
        point.ends === "failed"
          ? yield* secondLook(server.url, purchase)
          : yield* Purchase.storedAnswer(server.url, purchase)
      assert.strictEqual(answer.status, point.ends === "failed" ? 402 : 200, answer.text)
    }
  }
})

const survive = (point: Point) =>
  Effect.gen(function* () {
    const { database, facilitator, rpc } = yield* Proxies
    const server = yield* ServerProcess.make(yield* environment(point))
    yield* server.start
    const purchase = yield* Purchase.prepare(server.url)

    const stop = yield* point.reach
    const request = yield* Effect.forkScoped(Effect.exit(Purchase.send(server.url, purchase)))
    yield* stop.arrived
    if (point.before !== undefined) yield* point.before(stop, purchase, Fiber.interrupt(request))
    yield* server.kill
    yield* Effect.all([rpc.calm, facilitator.calm, database.calm, stop.after])
    yield* letGo

    yield* conclude(point, stop, server, purchase)

    if (point.ends === "failed") yield* Purchase.assertFailed(server.url, purchase, "authorization_expired")
    else {
      yield* Purchase.assertSettled(server.url, purchase)
      yield* Purchase.assertNextStone(server.url)
    }
  }).pipe(Effect.provide(stage))

const left = {
  client: "an attempt that its client concludes",
  start: "an attempt that the next start concludes",
  sweeper: "an attempt that the sweeper concludes",
  nobody: "a complete purchase",
} as const

describe("a server killed", { concurrent: true }, () => {
  for (const point of points) {
    // I2
    live(`${point.killed}, settling by ${point.settledBy ?? "relayer"}, leaves ${left[point.concludedBy]}`, () =>
      survive(point),
    )
  }
})
