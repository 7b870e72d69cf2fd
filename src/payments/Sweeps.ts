/** The regular inquiries: attempts that are due, by rail, settled acts without a transfer, and the scan. None delays the others. */
import { type Duration, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import * as BlockTimes from "./x402/chain/BlockTimes.ts"
import { Transfers } from "./x402/chain/Transfers.ts"
import { reportChange } from "./Changes.ts"
import { type RailName, railNames } from "./Payment.ts"
import { Reconciler } from "./Reconciler.ts"
import { forgetFinal } from "./x402/settle/Broadcasts.ts"
import type { Attempt } from "./store/Attempt.ts"
import { Due } from "./store/Due.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"

export interface SweepsConfig {
  readonly sweepEvery: Duration.Duration
  /** Seconds that an authorization can live. */
  readonly longestLife: number
  /** CAIP-2. */
  readonly network: string
}

/** Maximum number of attempts in one sweep, and in the first one after a start. */
const sweepSize = 50
const startSize = 1000

/** Milliseconds a sweep leases an attempt, and how far ahead the first sweep reaches: their server may have been killed. */
const leaseMillis = 60_000
const startAheadMillis = 86_400_000

/** Sweeps attempts in the current scope. */
export const ofAttempts = Effect.fnUntraced(function* (
  conclude: (attempt: Attempt) => Effect.Effect<Attempt, SqlError.SqlError>,
  sweepEvery: Duration.Duration,
) {
  const due = yield* Due
  const reconciling = DatabaseWatch.watched("reconciliation failed")

  const concludeAll = (leased: { readonly attempts: ReadonlyArray<Attempt>; readonly taken: number }) =>
    Effect.forEach(
      leased.attempts,
      (attempt) =>
        conclude(attempt).pipe(
          Trace.goingOn(attempt.traceparent ?? null),
          (work) => reconciling(work, { attempt: attempt.id }),
          Effect.ignoreCause,
        ),
      { concurrency: 8, discard: true },
    ).pipe(Effect.as(leased.taken))

  const concludeDue = Effect.fn("Sweeps.concludeDue")(function* (rail: RailName, limit: number, aheadMillis: number) {
    return yield* concludeAll(yield* due.lease(rail, limit, aheadMillis, leaseMillis))
  })
  const sweeping = (sweep: Effect.Effect<number, SqlError.SqlError>) =>
    DatabaseWatch.sweeping(sweep, sweepEvery, "sweep failed", sweepSize)

  for (const rail of railNames) {
    const first = concludeDue(rail, startSize, startAheadMillis)
    yield* Effect.catchCause(first, DatabaseWatch.failed("sweep failed")).pipe(
      Effect.andThen(sweeping(concludeDue(rail, sweepSize, 0))),
      Effect.forkScoped,
    )
  }
  yield* sweeping(Effect.flatMap(due.leaseUnexplained(sweepSize, leaseMillis), concludeAll))
})

/** Scans the chain, and then asks the scan's table which acts are final and which payments bought nothing. */
const ofTransfers = Effect.fnUntraced(function* ({ longestLife, network, sweepEvery }: SweepsConfig) {
  const { scan } = yield* Transfers
  const { confirmAll } = yield* Due
  const forget = yield* forgetFinal
  const storeBlockTimes = yield* BlockTimes.make
  const { judge, prune } = yield* UnmatchedPayments

  const scanning = DatabaseWatch.watched("transfer scan failed")
  const sweep = Effect.gen(function* () {
    yield* Effect.ignoreCause(scanning(scan))
    for (const act of yield* confirmAll)
      yield* reportChange({ ...act, from: "settled", to: "final", evidence: "transfer found" })
    yield* storeBlockTimes(network)
    yield* forget
    yield* judge(longestLife)
    yield* prune
    return 0
  }).pipe(Effect.withSpan("Sweeps.ofTransfers"))

  yield* DatabaseWatch.sweeping(sweep, sweepEvery, "transfer sweep failed")
})

export const layer = (config: SweepsConfig) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { sweep } = yield* Reconciler
      yield* ofAttempts(sweep, config.sweepEvery)
      yield* ofTransfers(config)
    }),
  )
