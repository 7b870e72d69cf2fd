/** Sweeps attempts that are due: each rail, and settled acts whose transfer is missing. None delays the others. */
import { Deferred, Duration, Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { Sweep } from "./store/Due.ts"
import type { Settled } from "./store/Settled.ts"
import type { Rail } from "./Payment.ts"

/**
 * The first pass of a server takes held attempts, too, since their server may have been killed. Only a sweep resubmits
 * to a facilitator.
 */
type Pass = "sweep" | "start"

interface SweepOptions {
  readonly due: Sweep["Service"]
  readonly settled: Settled["Service"]
  readonly conclude: (
    pass: Pass,
    attempt: Attempt,
    hold?: Effect.Effect<boolean>,
  ) => Effect.Effect<Attempt, SqlError.SqlError>
  readonly sweepEvery: Duration.Duration
  readonly patience: Duration.Duration
}

const rails: ReadonlyArray<Rail> = ["x402", "card"]

/** Maximum number of attempts in one sweep, and in the first one after a start. */
const sweepSize = 50
const startSize = 1000

/** Milliseconds a sweep leases an attempt, and how far ahead the first sweep reaches. */
const leaseMillis = 60_000
const startAheadMillis = 86_400_000

export const start = Effect.fnUntraced(function* ({ conclude, due, patience, settled, sweepEvery }: SweepOptions) {
  const scope = yield* Effect.scope
  const heldFor = leaseMillis + Duration.toMillis(patience)

  /** Ends with the inquiry, or once the attempt is held for a submission: a slow facilitator delays no sweep. */
  const passOver = Effect.fnUntraced(function* (pass: Pass, attempt: Attempt) {
    const passed = yield* Deferred.make<void>()
    const hold = due.hold(attempt, heldFor).pipe(
      // An attempt that may not be held is not submitted.
      Effect.orElseSucceed(() => false),
      Effect.tap((isOurs) => (isOurs ? Deferred.succeed(passed, undefined) : Effect.void)),
    )
    yield* conclude(pass, attempt, pass === "sweep" ? hold : undefined).pipe(
      Trace.goingOn(attempt.traceparent ?? null),
      Effect.catchCause(DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })),
      Effect.ensuring(Deferred.succeed(passed, undefined)),
      Effect.forkIn(scope),
    )
    yield* Deferred.await(passed)
  })

  const passOverAll = (pass: Pass, leased: { readonly attempts: ReadonlyArray<Attempt>; readonly taken: number }) =>
    Effect.as(
      Effect.forEach(leased.attempts, (attempt) => passOver(pass, attempt), { concurrency: 8, discard: true }),
      leased.taken,
    )

  const concludeDue = Effect.fn("Reconciler.concludeDue")(function* (
    pass: Pass,
    rail: Rail,
    limit: number,
    aheadMillis: number,
  ) {
    const leased = yield* due.lease(rail, limit, aheadMillis, leaseMillis)
    return yield* passOverAll(pass, leased)
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
    Effect.andThen(
      carryOn(concludeDue("start", rail, startSize, startAheadMillis)),
      repeated(concludeDue("sweep", rail, sweepSize, 0)),
    )

  const unexplained = Effect.flatMap(settled.leaseUnexplained(sweepSize, heldFor), (leased) =>
    passOverAll("sweep", leased),
  )

  yield* Effect.forEach(rails, (rail) => Effect.forkScoped(sweeping(rail)), { discard: true })
  yield* Effect.forkScoped(repeated(unexplained))
})
