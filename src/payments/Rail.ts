/** A way to pay, from what a request presents to what proves the payment. `Rails` lists those in use. */
import type { Effect, Option } from "effect"
import type { Headers } from "effect/http"
import type { SqlError } from "effect/sql"
import type { Hex } from "viem"
import { FacilitatorUnavailable } from "../../schema/payments/Errors.ts"
import type { SoldAct } from "./Act.ts"
import type { CardCredential } from "./card/Challenge.ts"
import type { Finding } from "./decision.ts"
import { isRejected, type PaymentOf, PaymentRejected, type ProofOf, type RailName } from "./Payment.ts"
import type { OfferedAct } from "./PaymentTerms.ts"
import type { Attempt } from "./store/Attempt.ts"
import type { InFlight, PayerBalance } from "./store/Claim.ts"
import type { Funds, Submission } from "./x402/settle/Settlement.ts"
import type { PaymentHeader } from "./x402/verify/Header.ts"

/** A payment as a request presents it. Nothing about it is believed. */
export type Credential = PaymentHeader | CardCredential
export type CredentialOf<R extends RailName> = Extract<Credential, { readonly rail: R }>

/** An order: the act that a request asks for, at its canonical absolute URL. */
export interface Order extends OfferedAct {
  readonly method: string
  readonly key: string | undefined
  /** The body as sent. */
  readonly body: string
}

/** A payment that would settle now, or that is made already. */
export interface Verified<R extends RailName> {
  readonly _tag: "Verified"
  readonly payment: PaymentOf<R>
  /** Whether the payment is made already, so that nothing has to be submitted. */
  readonly isMade: boolean
  /** The wallet's balance; absent for a card and for a payment that is made. */
  readonly balance?: PayerBalance | undefined
}

/** Why a payment is not verified: its own fault, or that nothing can be proven now. */
export type Unverifiable = PaymentRejected | FacilitatorUnavailable
export const isUnverifiable = (error: unknown): error is Unverifiable =>
  isRejected(error) || error instanceof FacilitatorUnavailable

export type Verification<R extends RailName> =
  | Verified<R>
  /** It would not settle now. `unlessHeld` finds out why, once it is known that no attempt holds the payment. */
  | {
      readonly _tag: "Unverified"
      readonly payment: PaymentOf<R>
      readonly unlessHeld: Effect.Effect<Verified<R>, Unverifiable | SqlError.SqlError>
    }

/** The answer to an inquiry about a claimed payment. */
export interface Inquiry<R extends RailName> {
  readonly finding: Finding<ProofOf<R>>
  /** The transaction or intent that the outcome depends on. */
  readonly reference: Option.Option<string>
  /** The payment with that reference. */
  readonly payment: PaymentOf<R>
  /** Where a proof that may be orphaned is final; absent if this rail's proofs are final at once. */
  readonly finality?: Effect.Effect<Option.Option<{ readonly block: bigint; readonly transaction: Hex }>>
}

/** A payment that was found after its attempt had failed. */
export interface LatePayment {
  readonly transaction: string
  /** Whether it is recorded as unmatched. Otherwise its block may not be final yet. */
  readonly isRecorded: boolean
}

/** Facts about a rail's requests and stored attempts, which hold whether it is in use or not. */
export interface RailFacts<R extends RailName> {
  readonly name: R
  /** The credential in a request's headers. */
  readonly credentialIn: (headers: Headers.Headers) => CredentialOf<R> | undefined
  /** The refusal of every payment where this rail is not in use. */
  readonly notHere: PaymentRejected
  /** Members of the refusal of a failed attempt: whether its payment may still be made, and until when. */
  readonly failure: (
    payment: PaymentOf<R>,
    reason: string,
  ) => { readonly message?: string; readonly authorizationOpenUntil?: string }
  /** The message about a failed attempt that was paid after all. */
  readonly paidLate: (late: LatePayment) => string
}

export interface Rail<R extends RailName> extends RailFacts<R> {
  readonly sells: (act: SoldAct) => boolean
  /** Headers that offer this rail in the 402 of one order; absent where the x402 challenge of every 402 says all. */
  readonly offer?: (order: Order) => Effect.Effect<Readonly<Record<string, string>>>
  /** Why no payment can be made now: a sentence for the caller, without its full stop. */
  readonly obstacle: {
    readonly toOffer: Effect.Effect<string | undefined>
    /** The same before a claim. A verification has just shown the token, so x402 asks only who settles. */
    readonly toClaim: Effect.Effect<string | undefined>
  }
  /** The same for monitoring. */
  readonly funds: Effect.Effect<Funds>
  /** The part of a purchase in which a worthless credential costs us something. It counts against the address. */
  readonly costs: "verification" | "purchase"
  /** Whether the credential is truly of a payer who has paid here before. */
  readonly hasPaid: (credential: CredentialOf<R>, order: Order) => Effect.Effect<boolean, SqlError.SqlError>
  /** Whether the payment fits the order and would settle now. */
  readonly verify: (credential: CredentialOf<R>, order: Order) => Effect.Effect<Verification<R>, Unverifiable>
  /** Verifies again what a claim found not to be covered, beside the payer's payments in flight. */
  readonly reverify: (
    verified: Verified<R>,
    inFlight: ReadonlyArray<InFlight>,
  ) => Effect.Effect<Verified<R>, Unverifiable | SqlError.SqlError>
  /**
   * Submits a claimed payment, or reports the transaction of one that is made. The report proves nothing; undefined where
   * evidence submits.
   */
  readonly submit: (id: string, payment: PaymentOf<R>, order: Order) => Effect.Effect<Submission | undefined>
  /** Submits a payment again; none if it may be in flight. */
  readonly resubmit: (attempt: Attempt, payment: PaymentOf<R>) => Effect.Effect<Option.Option<Submission>>
  /** Asks chain or processor. `mayWait` for the request that has just submitted. Never fails: no answer is a finding. */
  readonly evidence: (
    attempt: Attempt,
    payment: PaymentOf<R>,
    submission: Submission | undefined,
    mayWait: boolean,
  ) => Effect.Effect<Inquiry<R>>
}

/** The refusal while nothing proves whether a payment was made. */
export const unproven = new FacilitatorUnavailable({
  message:
    "The server cannot tell now whether this authorization has paid. Send the same request again later, and do not sign another payment before. This request charged nothing.",
})

/** The refusal of a payment that a claim found not to be covered. */
export const overdrawn = new PaymentRejected({
  reason: "insufficient_funds",
  message:
    "The paying wallet holds less USDC than this price and its payments in flight here. Fund it, or wait for them, and send the same request again. This request charged nothing.",
})

/** The refusal while no payment can be made. */
export const notPayable = (obstacle: string) =>
  new FacilitatorUnavailable({
    message: `${obstacle}. Send the same request again later. This request charged nothing.`,
  })
