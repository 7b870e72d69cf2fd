/** A server without payments: nothing about money can happen. */
import { Effect, Layer } from "effect"
import { CardRail } from "./card/CardRail.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement } from "./Settlement.ts"
import { PayerBalances } from "./x402/verification/PayerBalances.ts"
import { UsedAuthorizations } from "./x402/evidence/UsedAuthorizations.ts"
import { Verifier } from "./x402/verification/Verifier.ts"

const unreachable = Effect.die("payments are not configured")

/** Attempts of an earlier configuration stay as they are. */
export const layer = Layer.mergeAll(
  Layer.succeed(Verifier, Verifier.of({ verify: () => unreachable })),
  CardRail.off,
  Layer.succeed(PayerBalances, PayerBalances.of({ current: () => unreachable, beforePayments: () => unreachable })),
  Layer.succeed(UsedAuthorizations, UsedAuthorizations.of({ trace: () => unreachable })),
  Layer.succeed(
    Settlement,
    Settlement.of({
      submit: () => unreachable,
      resubmit: () => unreachable,
      abandon: () => unreachable,
      obstacle: Effect.undefined,
      funds: Effect.succeed("ok"),
    }),
  ),
  Layer.succeed(Reconciler, Reconciler.of({ conclude: Effect.succeed, look: Effect.succeed })),
)
