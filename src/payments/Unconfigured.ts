/** A server without payments: nothing about money can happen. */
import { Effect, Layer } from "effect"
import { CardRail } from "./CardRail.ts"
import { PaymentVerifier } from "./PaymentVerifier.ts"
import { Reconciler } from "./Reconciler.ts"
import { Settlement } from "./Settlement.ts"

const unreachable = Effect.die("payments are not configured")

/** Attempts of an earlier configuration stay as they are. */
export const layer = Layer.mergeAll(
  Layer.succeed(PaymentVerifier, PaymentVerifier.of({ verify: () => unreachable })),
  CardRail.off,
  Layer.succeed(Settlement, Settlement.of({ submit: () => unreachable })),
  Layer.succeed(Reconciler, Reconciler.of({ conclude: Effect.succeed, sweep: Effect.succeed(0) })),
)
