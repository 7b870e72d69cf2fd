/** The steps of a paid request between the intent on disk and the answer at the client, and how a test stops at each. */
import { Deferred, Effect } from "effect"
import type { Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Purchase from "../lab/buyer/Purchase.ts"
import type { FacilitatorFault } from "../lab/proxy/Facilitator.ts"
import type { PostgresFault } from "../lab/proxy/Postgres.ts"
import type { NodeFault } from "../lab/proxy/Node.ts"
import { type SettledBy, type Stage } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { until } from "../lab/Eventually.ts"

/** A request that has come as far as it is meant to. */
export interface Stop {
  /** Waits until it is there. */
  readonly arrived: Effect.Effect<void>
  /** The fate of the held message after the kill. */
  readonly after: Effect.Effect<void>
  /** Lets what was caught happen after all. */
  readonly late: Effect.Effect<void>
}

export interface Point {
  readonly settledBy?: SettledBy
  /** When the server dies, in words. */
  readonly killed: string
  readonly reach: Effect.Effect<Stop, never, Stage | Scope.Scope>
  /** The last step before the kill; `leave` takes the client away. */
  readonly before?: (
    stop: Stop,
    purchase: Purchase.Purchase,
    leave: Effect.Effect<void>,
  ) => Effect.Effect<void, never, Stage>
  /** How the outcome becomes provable; absent when it was so at the kill. */
  readonly evidence?: (stop: Stop, purchase: Purchase.Purchase) => Effect.Effect<unknown, never, Stage>
  /** The finder of the evidence; `nobody` when the database knew it before the kill. */
  readonly concludedBy: "client" | "start" | "sweeper" | "nobody"
  /** An attempt that fails expires; the others settle. */
  readonly ends?: "failed"
}

const rpc = (method: string, fault: NodeFault) =>
  Effect.map(Proxies, (proxies): Stop => stopAt(proxies.rpc.arm(method, fault)))

const facilitator = (fault: FacilitatorFault) =>
  Effect.map(Proxies, (proxies): Stop => stopAt(proxies.facilitator.arm(fault)))

const database = (statement: RegExp, fault: PostgresFault) =>
  Effect.map(Proxies, (proxies): Stop => stopAt(proxies.database.arm(statement, fault)))

const stopAt = (trap: ReturnType<Proxies["Service"]["rpc"]["arm"]>): Stop => ({
  arrived: trap.arrived,
  after: Effect.void,
  late: trap.release,
})

/** The test's own transaction holds the head of the chain, until the recording one waits behind it. */
const chainHead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const done = yield* Deferred.make<void>()
  yield* sql`SELECT sequence FROM witness_head WHERE id = 1 FOR UPDATE`.pipe(
    Effect.andThen(Deferred.succeed(held, undefined)),
    Effect.andThen(Deferred.await(done)),
    sql.withTransaction,
    Effect.orDie,
    Effect.forkScoped,
  )
  yield* Deferred.await(held)
  const waiting = sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  const stop: Stop = {
    arrived: waiting.pipe(
      until("no session waits for the chain head", (rows) => rows.length > 0),
      Effect.orDie,
      Effect.asVoid,
    ),
    after: Effect.asVoid(Deferred.succeed(done, undefined)),
    late: Effect.void,
  }
  return stop
})

const unmined = Effect.gen(function* () {
  yield* Purchase.automine(false)
  return yield* rpc("eth_sendRawTransaction", "holdAfter")
})

/** The held message arrives although its sender is dead. */
const late = (stop: Stop, purchase: Purchase.Purchase) =>
  Effect.andThen(
    stop.late,
    Purchase.charges(purchase).pipe(until("the held request never arrived", ({ charged }) => charged > 0)),
  )

/** The client hangs up, and only then may the server finish. */
const clientLeaves = (stop: Stop, purchase: Purchase.Purchase, leave: Effect.Effect<void>) =>
  leave.pipe(Effect.andThen(stop.late), Effect.andThen(Purchase.ended(purchase)), Effect.asVoid)

const intent = database(/INSERT INTO payment_attempts/u, "holdAfter")
const receipt = rpc("eth_getTransactionReceipt", "holdAfter")
const failed = { ends: "failed", evidence: () => Purchase.passExpiry } as const
const hosted = { settledBy: "facilitator" } as const

export const points: ReadonlyArray<Point> = [
  {
    killed: "with the intent on disk, before settlement is called, which is then called again",
    reach: intent,
    concludedBy: "client",
  },
  {
    killed: "with the broadcast in flight to a node that never receives it",
    reach: rpc("eth_sendRawTransaction", "holdBefore"),
    concludedBy: "start",
    ...failed,
  },
  {
    killed: "with the broadcast in flight to a node that receives it late",
    reach: rpc("eth_sendRawTransaction", "holdBefore"),
    evidence: late,
    concludedBy: "client",
  },
  {
    killed: "with the broadcast accepted and the response held back",
    reach: rpc("eth_sendRawTransaction", "holdAfter"),
    concludedBy: "start",
  },
  {
    killed: "with the broadcast accepted and no block for it yet",
    reach: unmined,
    evidence: () => Purchase.mineAll,
    concludedBy: "sweeper",
  },
  { killed: "with the receipt held back", reach: receipt, concludedBy: "client" },
  {
    killed: "inside the recording transaction, waiting for the head of the chain",
    reach: chainHead,
    concludedBy: "start",
  },
  {
    killed: "with the COMMIT in flight to the database",
    reach: database(/^COMMIT$/u, "holdBefore"),
    concludedBy: "client",
  },
  {
    killed: "with the COMMIT done and its reply lost",
    reach: database(/^COMMIT$/u, "holdAfter"),
    concludedBy: "nobody",
  },
  {
    killed: "after it finished for a disconnected client",
    reach: receipt,
    before: clientLeaves,
    concludedBy: "nobody",
  },
  {
    ...hosted,
    killed: "with the intent on disk, before settlement is called",
    reach: intent,
    concludedBy: "start",
    ...failed,
  },
  {
    ...hosted,
    killed: "with the facilitator called, which never settles",
    reach: facilitator("holdBefore"),
    concludedBy: "client",
    ...failed,
  },
  {
    ...hosted,
    killed: "with the facilitator called, which settles late",
    reach: facilitator("holdBefore"),
    evidence: late,
    concludedBy: "sweeper",
  },
  {
    ...hosted,
    killed: "with the facilitator done and its response held back",
    reach: facilitator("holdAfter"),
    concludedBy: "start",
  },
]
