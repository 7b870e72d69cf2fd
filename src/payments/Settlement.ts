/** Hands a signed authorization to whoever brings it on chain, and reports only what it was answered. */
import { Context, type Effect, type Option } from "effect"
import type { Hex } from "viem"
import type { PaymentRequirements } from "../../schema/payments/Payment.ts"
import type { Attempt } from "./ledger/Attempt.ts"
import type { SignedAuthorization } from "./x402/verification/Eip3009.ts"
import type { ChainPayment } from "./Payment.ts"

export interface SettlementRequest {
  readonly attempt: string
  readonly authorization: SignedAuthorization
  readonly requirements: PaymentRequirements
  /** The x402 payload as the client sent it, for a facilitator. */
  readonly payload: string
  /** Whether it was claimed for a wallet without code, which may have more open than one with code. */
  readonly isCodeless?: boolean
}

/**
 * What settlement reported. None of it is evidence: `Submitted` names a transaction to look for, `Refused`
 * means that nothing was or will be broadcast by this call, `Unclear` is everything else. Only our own relayer knows,
 * and says by `unsent`, that no broadcast of this attempt is noted, and therefore none was ever tried by it. `Unheard` means
 * that nobody has read a byte of this call.
 */
export type Submission =
  | { readonly _tag: "Submitted"; readonly transaction: Hex }
  | { readonly _tag: "Refused"; readonly reason: string; readonly unsent?: true }
  | { readonly _tag: "Unheard"; readonly reason: string }
  | { readonly _tag: "Unclear"; readonly reason: string; readonly transaction: Option.Option<Hex> }

/** Payments that our own relayer sends in one transaction at most, where nothing less is set. */
export const groupMost = 50

/** Whether one more settlement could be made: our relayer has gas for it, or the facilitator says that it settles. */
export type Funds = "ok" | "failing" | "unknown"

/** A payment whose transfer is in no block: it is pending, or settled and its block was taken back. */
export interface Unpaid {
  readonly id: string
  readonly state: Attempt["state"]
  readonly acceptedAt: string
  readonly checks: number
  /** The transaction that has paid it before: where the node knows it no more, it is lost and not on its way. */
  readonly paidIn?: Hex
  /** Whether the newest block would refuse its transfer. */
  readonly reverts?: boolean
  readonly refusal?: string | null
  /** Keeps it from all others while it is handed in; false if somebody was faster. Absent for whoever may not hand it in. */
  readonly hold?: Effect.Effect<boolean>
}

export class Settlement extends Context.Service<
  Settlement,
  {
    /** Never fails: what goes wrong is a kind of answer. */
    submit(request: SettlementRequest): Effect.Effect<Submission>
    /**
     * Hands a payment in again that is certainly not on its way, or hurries one that is stuck; none where it may be on
     * its way, or nobody can know. Never fails.
     */
    resubmit(unpaid: Unpaid, payment: ChainPayment): Effect.Effect<Option.Option<Submission>>
    /**
     * What is left of a payment that can no longer be made: whose fault that was, if it took gas, and the place in the queue
     * of a transaction that no block takes. Whether nothing that this server sent for it can still pay, as far as it knows,
     * once the transaction that the attempt names is final. Never fails.
     */
    abandon(attempt: Attempt): Effect.Effect<boolean>
    /** Why no settlement could be made now, as far as is known: a sentence for the caller without its end. */
    readonly obstacle: Effect.Effect<string | undefined>
    /** The same for whoever watches: `unknown` when the node does not answer, or the facilitator is asked too often. */
    readonly funds: Effect.Effect<Funds>
  }
>()("spirit-altar/payments/Settlement") {}
