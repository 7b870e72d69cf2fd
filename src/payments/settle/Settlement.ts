/** Submits a signed authorization through our relayer or a facilitator, and reports its answer. */
import { Context, type Effect, type Option } from "effect"
import type { Hex } from "viem"
import type { PaymentRequirements } from "../../../schema/payments/Payment.ts"
import type { Attempt } from "../store/Attempt.ts"
import type { SignedAuthorization } from "../chain/Eip3009.ts"
import type { ChainPayment } from "../Payment.ts"

export interface SettlementRequest {
  readonly attempt: string
  readonly authorization: SignedAuthorization
  readonly requirements: PaymentRequirements
  /** The x402 payload as the client sent it, for a facilitator. */
  readonly payload: string
}

/** The report of a submission, which proves nothing. */
export type Submission =
  | { readonly _tag: "Submitted"; readonly transaction: Hex }
  /** This call broadcasts nothing. `unsent`, from our relayer only: no broadcast of the attempt is recorded. */
  | { readonly _tag: "Refused"; readonly reason: string; readonly unsent?: true }
  /** No byte of this call was read. */
  | { readonly _tag: "Unheard"; readonly reason: string }
  /** Everything else: a broadcast without an answer, or a payment that waits in line. */
  | { readonly _tag: "Unclear"; readonly reason: string; readonly transaction: Option.Option<Hex> }

/** The relayer's limits on its transactions. */
export interface Limits {
  /** Transactions of a key that may wait in the node. */
  readonly inFlight: number
  /** Gas in flight for wallets that never paid here and for all with code. */
  readonly gasAtRisk: number
}

/** Common nodes take 16 transactions of a sender. */
export const relayerLimits: Limits = { inFlight: 16, gasAtRisk: 3_000_000 }

/** Whether another settlement is possible: the relayer has gas for it, or the facilitator reports that it settles. */
export type Funds = "ok" | "failing" | "unknown"

/** A payment whose transfer is in no block: it is pending, or it is settled and its block was orphaned. */
export interface Unpaid {
  readonly id: string
  readonly state: Attempt["state"]
  /** The transaction that paid before. A node that no longer knows it has lost it. */
  readonly paidIn?: Hex | undefined
}

export class Settlement extends Context.Service<
  Settlement,
  {
    /** Never fails: an error is reported as a kind of submission. */
    submit(request: SettlementRequest): Effect.Effect<Submission>
    /** Submits a payment that nothing of ours may pay otherwise. None if it may be in flight. Never fails. */
    resubmit(unpaid: Unpaid, payment: ChainPayment): Effect.Effect<Option.Option<Submission>>
    /**
     * Whether our transaction for an unpaid payment is final and did not pay, so that no other one of ours can. Limits the
     * wallet of a rehearsed transfer that failed in its block. `hasEnded` if the authorization was cancelled or can never
     * pay. Never fails: without an answer it is false.
     */
    isSpent(attempt: string, payment: ChainPayment, hasEnded: boolean): Effect.Effect<boolean>
    /** Why no settlement is possible now, as far as known: a sentence for the caller, without its full stop. */
    readonly obstacle: Effect.Effect<string | undefined>
    /** The same for monitoring: `unknown` when the node does not answer or the facilitator limits our requests. */
    readonly funds: Effect.Effect<Funds>
  }
>()("spirit-altar/payments/settle/Settlement") {}
