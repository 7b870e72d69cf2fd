/** Scans the chain, and then asks the scan's table which acts are final and which payments bought nothing. */
import { type Duration, Effect, Layer } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { Transfers } from "./chain/Transfers.ts"
import { changed } from "./Changes.ts"
import { forgetFinal } from "./settle/Broadcasts.ts"
import { Settled } from "./store/Settled.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"

export interface TransferSweepConfig {
  readonly sweepEvery: Duration.Duration
  /** Seconds that an authorization can live. */
  readonly longestLife: number
}

export const layer = ({ longestLife, sweepEvery }: TransferSweepConfig) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { scan } = yield* Transfers
      const { confirmAll } = yield* Settled
      const forget = yield* forgetFinal
      const { judge, prune } = yield* UnmatchedPayments

      const sweep = Effect.gen(function* () {
        yield* Effect.catchCause(scan, DatabaseWatch.failed("transfer scan failed"))
        const final = yield* confirmAll
        const to = "final"
        yield* Effect.forEach(final, (act) => changed({ ...act, from: "settled", to, evidence: "transfer found" }), {
          discard: true,
        })
        yield* forget
        yield* judge(longestLife)
        yield* prune
        return 0
      }).pipe(Effect.withSpan("TransferSweep.sweep"))

      yield* DatabaseWatch.sweeping(sweep, sweepEvery, "transfer sweep failed")
    }),
  )
