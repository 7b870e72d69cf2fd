/** Inquires about failed attempts until their authorization expires, and records a late payment for the operator. */
import { Duration, Effect, Layer } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import type { Attempt } from "./store/Attempt.ts"
import { Sweep } from "./store/Due.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"
import { decide } from "./decision/Decision.ts"
import { Chain } from "./chain/Chain.ts"
import { findingOf } from "./chain/Evidence.ts"

/** Attempts per sweep, and concurrent inquiries. */
const sweepSize = 50
const concurrency = 8

export const layer = (sweepEvery: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const attempts = yield* Sweep
      const unclaimed = yield* UnmatchedPayments
      const chain = yield* Chain

      const inquire = Effect.fnUntraced(function* (attempt: Attempt) {
        const { payment } = attempt
        if (payment.rail === "card") return yield* attempts.endAlive(attempt.id)
        const { authorization, fromBlock, transaction } = payment
        const evidence = yield* chain.evidence({ authorization, fromBlock, transaction, patience: Duration.zero })
        const decision = decide(findingOf(evidence), { is: "failed" }, null, 0)
        if (decision.is === "settle") {
          // A reorganised block would take the payment with it.
          if (!(yield* chain.isFinal(decision.proof.block))) return
          const { block, transaction } = decision.proof
          yield* unclaimed.noteFailed(attempt, { rail: "x402", payment, transaction, block: block.number })
        } else if (decision.is !== "fail") return
        yield* attempts.endAlive(attempt.id)
      }, Trace.span("LatePayments.inquire"))

      const sweep = Effect.gen(function* () {
        const due = yield* attempts.leaseAlive(sweepSize)
        yield* Effect.forEach(
          due.attempts,
          (attempt) =>
            Effect.catchCause(
              inquire(attempt),
              DatabaseWatch.failed("late payment check failed", { attempt: attempt.id }),
            ),
          { concurrency: concurrency, discard: true },
        )
        return due.taken
      })

      yield* DatabaseWatch.sweeping(sweep, sweepEvery, "late payment sweep failed", sweepSize)
    }),
  )
