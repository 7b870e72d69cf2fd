/** Sweeps attempts that are due: each rail, and settled acts whose transfer is missing. None delays the others. */
import { type Duration, Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { Sweep } from "./store/Due.ts"
import type { Settled } from "./store/Settled.ts"
import type { Rail } from "./Payment.ts"

interface SweepOptions {
  readonly due: Sweep["Service"]
  readonly settled: Settled["Service"]
  readonly conclude: (attempt: Attempt) => Effect.Effect<Attempt, SqlError.SqlError>
  readonly sweepEvery: Duration.Duration
}

const rails: ReadonlyArray<Rail> = ["x402", "card"]

/** Maximum number of attempts in one sweep, and in the first one after a start. */
const sweepSize = 50
const startSize = 1000

/** Milliseconds a sweep leases an attempt, and how far ahead the first sweep reaches: their server may have been killed. */
const leaseMillis = 60_000
const startAheadMillis = 86_400_000

export const start = Effect.fnUntraced(function* ({ conclude, due, settled, sweepEvery }: SweepOptions) {
  const concludeAll = (leased: { readonly attempts: ReadonlyArray<Attempt>; readonly taken: number }) =>
    Effect.forEach(
      leased.attempts,
      (attempt) =>
        conclude(attempt).pipe(
          Trace.goingOn(attempt.traceparent ?? null),
          Effect.catchCause(DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })),
        ),
      { concurrency: 8, discard: true },
    ).pipe(Effect.as(leased.taken))

  const concludeDue = Effect.fn("Reconciler.concludeDue")(function* (rail: Rail, limit: number, aheadMillis: number) {
    return yield* concludeAll(yield* due.lease(rail, limit, aheadMillis, leaseMillis))
  })

  const carryOn = Effect.catchCause(DatabaseWatch.failed("sweep failed"))

  /** A full sweep is followed by the next one without a pause. */
  const repeated = (sweep: Effect.Effect<number, SqlError.SqlError>) =>
    sweep.pipe(
      Effect.repeat({ while: (taken) => taken === sweepSize }),
      carryOn,
      Effect.repeat(Schedule.spaced(sweepEvery)),
    )

  const sweeping = (rail: Rail) =>
    Effect.andThen(carryOn(concludeDue(rail, startSize, startAheadMillis)), repeated(concludeDue(rail, sweepSize, 0)))

  const unexplained = Effect.flatMap(settled.leaseUnexplained(sweepSize, leaseMillis), concludeAll)

  yield* Effect.forEach(rails, (rail) => Effect.forkScoped(sweeping(rail)), { discard: true })
  yield* Effect.forkScoped(repeated(unexplained))
})
