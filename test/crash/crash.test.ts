/** Killed without warning between intent and answer, a server charges exactly once or not at all, and says so afterwards. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { until } from "../lab/Eventually.ts"
import type { Trap } from "../lab/proxy/Faults.ts"
import { type SettledBy, type Stage, stage } from "../lab/server/ProxiedServer.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { Proxies } from "../lab/TestServices.ts"

interface Point {
  /** Catches the request on its way. */
  readonly reach: Effect.Effect<Trap, never, Stage | Scope.Scope>
  /** How the outcome becomes provable; absent when it was so at the kill. */
  readonly evidence?: (trap: Trap, purchase: Purchase.Purchase) => Effect.Effect<unknown, never, Stage>
  /** Where the evidence comes from; `nobody` if the database had it before the kill. */
  readonly concludedBy: "start" | "sweeper" | "nobody"
  /** An attempt that fails expires; the others settle. */
  readonly ends?: "failed"
  /** The node fails when the server starts again, and recovers as evidence. */
  readonly startsBlind?: true
}

const at = (arm: (proxies: Proxies["Service"]) => Trap) => Effect.map(Proxies, arm)

/** The held message arrives although its sender is dead. */
const late = (trap: Trap, purchase: Purchase.Purchase) =>
  Effect.andThen(
    trap.release,
    Purchase.charges(purchase).pipe(until("the held request never arrived", ({ charged }) => charged > 0)),
  )

/** The COMMIT of the recording transaction. The scan commits as well. */
const commit = (fault: "holdBefore" | "holdAfter") =>
  at(({ database }) => {
    const head = database.arm(/UPDATE witness_head/u, "holdBefore")
    let trap: Trap | undefined
    const arm = Effect.sync(() => (trap = database.arm(/^COMMIT$/u, fault)))
    return {
      ...head,
      arrived: head.arrived.pipe(
        Effect.andThen(arm),
        Effect.tap(head.release),
        Effect.flatMap(({ arrived }) => arrived),
      ),
      release: Effect.suspend(() => trap?.release ?? Effect.void),
    }
  })

const intent = at(({ database }) => database.arm(/INSERT INTO payment_attempts/u, "holdAfter"))
const inBlock = at(({ rpc }) => rpc.arm("eth_sendRawTransaction", "holdAfter"))
const begun = (reach: Point["reach"], ends: Partial<Point> = {}): Point => ({ reach, concludedBy: "start", ...ends })
const swept = (reach: Point["reach"], ends: Partial<Point> = {}): Point => ({ reach, concludedBy: "sweeper", ...ends })
const expires = { ends: "failed", evidence: () => Purchase.passExpiry } as const
const called = at(({ facilitator }) => facilitator.arm("holdBefore"))

/** By the settler, and by the moment of the kill. */
const points: Readonly<Record<SettledBy, Readonly<Record<string, Point>>>> = {
  relayer: {
    "with the intent on disk, before settlement is called, which is then called again": swept(intent),
    "with the broadcast in flight to a node that receives it late": swept(
      at(({ rpc }) => rpc.arm("eth_sendRawTransaction", "holdBefore")),
      { evidence: late },
    ),
    "with the broadcast accepted and the response held back": begun(inBlock),
    "with the broadcast accepted and no block for it yet": swept(Effect.andThen(Purchase.automine(false), inBlock), {
      evidence: () => Purchase.mineAll,
    }),
    "with the receipt held back": begun(at(({ rpc }) => rpc.arm("eth_getTransactionReceipt", "holdAfter"))),
    "inside the recording transaction, at the head of the chain": begun(
      at(({ database }) => database.arm(/UPDATE witness_head/u, "holdBefore")),
    ),
    "with the COMMIT in flight to the database": begun(commit("holdBefore")),
    "with the COMMIT done and its reply lost": begun(commit("holdAfter"), { concludedBy: "nobody" }),
  },
  facilitator: {
    "with the intent on disk, before settlement is called": swept(intent, expires),
    "with the facilitator called, which never settles": swept(called, expires),
    "with the facilitator called, which settles late": swept(called, { evidence: late }),
    "with the facilitator done and its response held back, and no node at the next start": swept(
      at(({ facilitator }) => facilitator.arm("holdAfter")),
      { evidence: () => Effect.flatMap(Proxies, ({ rpc }) => rpc.calm), startsBlind: true },
    ),
  },
}

const environment = Effect.fnUntraced(function* ({ concludedBy }: Point, settledBy: string) {
  const { facilitator } = yield* Proxies
  const { RELAYER_KEY, ...others } = yield* ServerProcess.proxied
  const env: Record<string, string> = {
    ...others,
    TEST_SETTLE_SECONDS: "20",
    TEST_SWEEP_SECONDS: concludedBy === "sweeper" ? "1" : "3600",
    LOG_LEVEL: "Info",
    ...(settledBy === "facilitator" ? { FACILITATOR_URL: facilitator.url } : { RELAYER_KEY }),
  }
  return env
})

/** Waits until the database has noticed the death: a start asks for nothing that the dead server still has locked. */
const letGo = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM payment_attempts FOR UPDATE`).pipe(
  Effect.orDie,
)

const survive = Effect.fnUntraced(function* (point: Point, settledBy: string) {
  const { concludedBy, ends, evidence, reach, startsBlind } = point
  const { database, facilitator, rpc } = yield* Proxies
  const server = yield* ServerProcess.make(yield* environment(point, settledBy))
  yield* server.start
  const purchase = yield* Purchase.prepareAt(server.url)
  const trap = yield* reach
  yield* Effect.forkScoped(Effect.exit(Purchase.send(purchase)))
  yield* trap.arrived
  yield* server.kill
  yield* Effect.all([rpc.calm, facilitator.calm, database.calm])
  yield* letGo
  const stateIs = Effect.fnUntraced(function* (state: string) {
    assert.strictEqual((yield* Purchase.attemptOf(purchase))?.state, state)
  })
  if (concludedBy === "nobody") yield* stateIs("settled")
  if (startsBlind) rpc.arm("*", "status500")
  yield* server.start
  if (evidence !== undefined) {
    yield* Purchase.attemptOf(purchase).pipe(until("no sweep inquired", (attempt) => (attempt?.checks ?? 0) > 0))
    yield* stateIs("pending")
    yield* evidence(trap, purchase)
  }
  if (ends === "failed") {
    // One inquiry fails no attempt. A sweep an hour later agrees with it.
    yield* Purchase.doubted(purchase)
    yield* stateIs("pending")
    yield* Purchase.afterNextSweep(purchase)
  }
  yield* Purchase.ended(purchase)
  if (ends === "failed") return yield* Purchase.assertFailed(purchase, "authorization_expired")
  yield* Purchase.assertSettled(purchase)
  return yield* Purchase.assertNextStone(server.url)
}, Effect.provide(stage))

const left = {
  start: "an attempt that the next start concludes",
  sweeper: "an attempt that the sweeper concludes",
  nobody: "a complete purchase",
} as const

describe("a server killed", { concurrent: true }, () => {
  for (const [settledBy, killed] of Object.entries(points))
    for (const [when, point] of Object.entries(killed))
      it.live(`${when}, settling by ${settledBy}, leaves ${left[point.concludedBy]}`, () => survive(point, settledBy))
})
