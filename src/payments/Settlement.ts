/** Submits a signed authorization through our relayer or a facilitator, and reports its answer. */
import { Context, type Effect, type Option } from "effect"
import type { Hex } from "viem"
import type { PaymentRequirements } from "../../schema/payments/Payment.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { SignedAuthorization } from "./chain/Eip3009.ts"
import type { ChainPayment } from "./Payment.ts"

export interface SettlementRequest {
  readonly attempt: string
  readonly authorization: SignedAuthorization
  readonly requirements: PaymentRequirements
  /** The x402 payload as the client sent it, for a facilitator. */
  readonly payload: string
  /** Whether the attempt was claimed for a wallet without code, which may have more payments in flight. */
  readonly isCodeless?: boolean
}

/** The report of a submission, which proves nothing. */
export type Submission =
  /** The transaction to look for. */
  | { readonly _tag: "Submitted"; readonly transaction: Hex }
  /** This call broadcasts nothing. `unsent`, from our relayer only: no broadcast of the attempt is recorded. */
  | { readonly _tag: "Refused"; readonly reason: string; readonly unsent?: true }
  /** No byte of this call was read. */
  | { readonly _tag: "Unheard"; readonly reason: string }
  /** Everything else. */
  | { readonly _tag: "Unclear"; readonly reason: string; readonly transaction: Option.Option<Hex> }

/** The default maximum of payments in one transaction of the relayer. */
export const groupMaximum = 50

/** Whether another settlement is possible: the relayer has gas for it, or the facilitator reports that it settles. */
export type Funds = "ok" | "failing" | "unknown"

/** A payment whose transfer is in no block: it is pending, or it is settled and its block was orphaned. */
export interface Unpaid {
  readonly id: string
  readonly state: Attempt["state"]
  readonly acceptedAt: string
  readonly checks: number
  /** The transaction that paid before. A node that no longer knows it has lost it. */
  readonly paidIn?: Hex
  /** Whether the transfer would revert in the newest block. */
  readonly reverts?: boolean
  readonly refusal?: string | null
  /** Holds the payment for this server; false if another was faster. Absent for callers that must not submit. */
  readonly hold?: Effect.Effect<boolean>
}

export class Settlement extends Context.Service<
  Settlement,
  {
    /** Never fails: an error is reported as a kind of submission. */
    submit(request: SettlementRequest): Effect.Effect<Submission>
    /**
     * Resubmits a payment that is certainly not in flight, or speeds up a stuck one. None if it may be in flight or
     * that is unknown. Never fails.
     */
    resubmit(unpaid: Unpaid, payment: ChainPayment): Effect.Effect<Option.Option<Submission>>
    /**
     * Blames the wallet for lost gas and frees the nonce of a payment that can no longer be made. Never fails. Returns
     * whether nothing sent by this server can still pay once the attempt's transaction is final.
     */
    abandon(attempt: Attempt): Effect.Effect<boolean>
    /** Why no settlement is possible now, as far as known: a sentence for the caller, without its full stop. */
    readonly obstacle: Effect.Effect<string | undefined>
    /** The same for monitoring: `unknown` when the node does not answer or the facilitator limits our requests. */
    readonly funds: Effect.Effect<Funds>
  }
>()("spirit-altar/payments/Settlement") {}
