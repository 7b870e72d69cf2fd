/** Submits a signed authorization through our relayer or a facilitator, and reports its answer. */
import { Context, type Effect, type Option } from "effect"
import type { Hex } from "viem"
import type { Attempt } from "../../store/Attempt.ts"
import type { ChainPayment } from "../../Payment.ts"
import type { Offer } from "../../PaymentTerms.ts"

export interface SettlementRequest {
  readonly attempt: string
  readonly payment: ChainPayment
  /** The offer that it accepts, which a facilitator compares with it. */
  readonly offer: Offer
}

/** The report of a submission, which proves nothing. */
export type Submission =
  | { readonly _tag: "Submitted"; readonly transaction: Hex }
  /** This call sends nothing: our relayer refused the payment before it recorded a broadcast, or no byte was read. */
  | { readonly _tag: "Refused"; readonly reason: string }
  /** Everything else: a broadcast without an answer, or a payment that waits in line. */
  | { readonly _tag: "Unclear"; readonly reason: string; readonly transaction: Option.Option<Hex> }

/** The reason of a refusal that no payer causes. */
export const unreachable = "facilitator_unreachable"

/** The relayer's limits on its transactions. */
export interface Limits {
  /** Transactions of a key that may wait in the node. */
  readonly inFlight: number
  /** Gas in flight for plain wallets that never paid here, and again for all with code. */
  readonly gasAtRisk: number
}

/** Common nodes take 16 transactions of a sender. */
export const relayerLimits: Limits = { inFlight: 16, gasAtRisk: 3_000_000 }

/** Whether another settlement is possible: the relayer has gas for it, or the facilitator reports that it settles. */
export type Funds = "ok" | "failing" | "unknown"

export class Settlement extends Context.Service<
  Settlement,
  {
    /** Never fails: an error is reported as a kind of submission. */
    submit(request: SettlementRequest): Effect.Effect<Submission>
    /**
     * Submits a payment whose transfer is in no block: its attempt is pending, or settled and its block was orphaned. None
     * if it may be in flight. Never fails.
     */
    resubmit(attempt: Attempt, payment: ChainPayment): Effect.Effect<Option.Option<Submission>>
    /**
     * Whether our transaction for an unpaid payment is final and did not pay, so that no other one of ours can. Limits the
     * wallet of a rehearsed transfer that failed in its block. `hasEnded` if the authorization can never pay. Never fails: without an answer it is false.
     */
    isSpent(attempt: string, payment: ChainPayment, hasEnded: boolean): Effect.Effect<boolean>
    /** Why no settlement is possible now, as far as known: a sentence for the caller, without its full stop. */
    readonly obstacle: Effect.Effect<string | undefined>
    /** The same for monitoring: `unknown` when the node does not answer or the facilitator limits our requests. */
    readonly funds: Effect.Effect<Funds>
  }
>()("spirit-altar/payments/x402/settle/Settlement") {}
