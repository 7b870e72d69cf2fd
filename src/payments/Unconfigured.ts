/** A server without payments: nothing about money can happen. */
import { Effect, Layer } from "effect"
import { CardRail } from "./card/CardRail.ts"
import { PaymentVerifier } from "./x402/PaymentVerifier.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement } from "./Settlement.ts"
import { Purses } from "./ledger/Purses.ts"
import { UsedAuthorizations } from "./x402/UsedAuthorizations.ts"

const unreachable = Effect.die("payments are not configured")

/** Attempts of an earlier configuration stay as they are. */
export const layer = Layer.mergeAll(
  Layer.succeed(PaymentVerifier, PaymentVerifier.of({ verify: () => unreachable })),
  CardRail.off,
  Layer.succeed(Purses, Purses.of({ look: () => unreachable, before: () => unreachable })),
  Layer.succeed(UsedAuthorizations, UsedAuthorizations.of({ trace: () => unreachable })),
  Layer.succeed(
    Settlement,
    Settlement.of({
      submit: () => unreachable,
      again: () => unreachable,
      abandon: () => unreachable,
      solvent: Effect.succeed(true),
    }),
  ),
  Layer.succeed(Reconciler, Reconciler.of({ conclude: Effect.succeed, sweep: Effect.succeed(0) })),
)
