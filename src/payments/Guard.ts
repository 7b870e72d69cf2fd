/** Limits what the worthless payments of one address cost us. The limits themselves are in `altar/Limits.ts`. */
import { Effect } from "effect"
import type { RateLimited } from "../../schema/Errors.ts"
import { AuthorizationAlreadyBound } from "../../schema/payments/Errors.ts"
import type { Concluded } from "./Answers.ts"
import { PaymentRejected } from "./Payment.ts"
import { unproven } from "./Rail.ts"
import type { AnyRail } from "./Rails.ts"
import type { Attempt } from "./store/Attempt.ts"
import { NodeQueries } from "./x402/chain/Rpc.ts"
import { unreachable } from "./x402/settle/Settlement.ts"

/** Takes, at the end of a counted purchase, whether it was charged. Never fails. */
export type Ended = (isCharged: boolean) => Effect.Effect<void>

/** Limits the attempts and the requests to node and processor that refused payments of one address cause. */
export interface PaymentGuard {
  /**
   * Runs the judgement of a payment. After too many refused payments of the address it runs for `isKnown` wallets
   * alone, and fails for all others.
   */
  admit<A, E, R>(
    judgement: Effect.Effect<A, E, R>,
    isKnown: Effect.Effect<boolean, E>,
  ): Effect.Effect<A, E | RateLimited, R>
  readonly refused: Effect.Effect<void>
  /**
   * Runs a purchase that counts as refused from its start on, unless it ends charged. Beyond the limit it fails without
   * running. Of many at once, some wait.
   */
  counting<A, E, R>(purchase: (ended: Ended) => Effect.Effect<A, E, R>): Effect.Effect<A, E | RateLimited, R>
}

/** Refusals that count against an address. An obstacle to all payments does not, nor a wallet's limit in flight. */
const isRefused = (error: unknown) =>
  error instanceof PaymentRejected || error instanceof AuthorizationAlreadyBound || error === unproven

/** Runs a purchase that a disconnect of its client does not stop. */
type Detached = <A, E, R>(purchase: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Guards one request by what a worthless credential of its rail costs: its verification, or its whole purchase. */
export const guarding = Effect.fnUntraced(function* <E>(
  { costs }: Pick<AnyRail, "costs">,
  guard: PaymentGuard,
  hasPaid: Effect.Effect<boolean, E>,
  reportEnd: (attempt: Attempt, ended: Ended) => Effect.Effect<void>,
) {
  const isKnown = yield* Effect.cached(hasPaid)
  const queries = { count: 0 }
  // A refused payment counts if it cost queries to the node and its wallet never paid here.
  const count = Effect.suspend(() =>
    queries.count === 0
      ? Effect.void
      : Effect.flatMap(isKnown, (hasPaidBefore) => (hasPaidBefore ? Effect.void : guard.refused)),
  )
  const countRefusal = (error: unknown) => (isRefused(error) ? count : Effect.void)
  const countFailure = ({ attempt }: Concluded) =>
    attempt.state === "failed" && attempt.reason !== unreachable ? count : Effect.void

  return costs === "verification"
    ? {
        verification: <A, E1, R>(verify: Effect.Effect<A, E1, R>) =>
          guard.admit(verify.pipe(Effect.tapError(countRefusal), Effect.provideService(NodeQueries, queries)), isKnown),
        purchase: <E1, R>(buy: Effect.Effect<Concluded, E1, R>, detached: Detached) =>
          detached(buy).pipe(Effect.tap(countFailure), Effect.tapError(countRefusal)),
      }
    : {
        verification: <A, E1, R>(verify: Effect.Effect<A, E1, R>) => verify,
        // Counts before the claim: a card's token costs its sender nothing until it is charged. The count also ends
        // where the client has disconnected.
        purchase: <E1, R>(buy: Effect.Effect<Concluded, E1, R>, detached: Detached) =>
          guard.counting((ended) => detached(Effect.tap(buy, ({ attempt }) => reportEnd(attempt, ended)))),
      }
})
