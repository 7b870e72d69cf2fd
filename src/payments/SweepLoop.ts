/** Sweeps attempts that are due, each rail separately: a hanging card processor delays no transfer. */
import { Clock, Deferred, Duration, Effect, Schedule } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { Sweep } from "./store/Due.ts"
import type { Rail } from "./Payment.ts"

/**
 * The first pass of a server takes held attempts, too, since their server may have been killed. Only a sweep resubmits
 * to a facilitator.
 */
type Pass = "sweep" | "start"

interface SweepOptions {
  readonly pending: Sweep["Service"]
  readonly conclude: (pass: Pass, attempt: Attempt, hold?: Effect.Effect<boolean>) => Effect.Effect<Attempt>
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

export const start = Effect.fnUntraced(function* ({ conclude, patience, pending, sweepEvery }: SweepOptions) {
  const scope = yield* Effect.scope
  const heldFor = leaseMillis + Duration.toMillis(patience)

  /** Ends with the inquiry, or once the attempt is held for a submission: a slow facilitator delays no sweep. */
  const passOver = Effect.fnUntraced(function* (pass: Pass, attempt: Attempt) {
    const passed = yield* Deferred.make<void>()
    const hold = Effect.tap(pending.hold(attempt, heldFor), (isOurs) =>
      isOurs ? Deferred.succeed(passed, undefined) : Effect.void,
    )
    yield* conclude(pass, attempt, pass === "sweep" ? hold : undefined).pipe(
      Trace.goingOn(attempt.traceparent ?? null),
      Effect.catchCause(DatabaseWatch.failed("reconciliation failed", { attempt: attempt.id })),
      Effect.ensuring(Deferred.succeed(passed, undefined)),
      Effect.forkIn(scope),
    )
    yield* Deferred.await(passed)
  })

  const concludeDue = Effect.fn("Reconciler.concludeDue")(function* (
    pass: Pass,
    rail: Rail,
    limit: number,
    aheadMillis: number,
  ) {
    const now = yield* Clock.currentTimeMillis
    const { attempts, taken } = yield* pending.lease(rail, limit, now + aheadMillis, leaseMillis)
    yield* Effect.forEach(attempts, (attempt) => passOver(pass, attempt), { concurrency: 8, discard: true })
    return taken
  })

  const carryOn = Effect.catchCause(DatabaseWatch.failed("sweep failed"))

  const sweeping = (rail: Rail) =>
    concludeDue("start", rail, startSize, startAheadMillis).pipe(
      carryOn,
      // A full sweep is followed by the next one without a pause.
      Effect.andThen(
        concludeDue("sweep", rail, sweepSize, 0).pipe(
          Effect.repeat({ while: (taken) => taken === sweepSize }),
          carryOn,
          Effect.repeat(Schedule.spaced(sweepEvery)),
        ),
      ),
    )

  yield* Effect.forEach(rails, (rail) => Effect.forkScoped(sweeping(rail)), { discard: true })
})
