/** The result of a paid request: its attempt, or a refusal. */
import type { BadRequest, RateLimited } from "../../schema/Errors.ts"
import {
  type AuthorizationAlreadyBound,
  type FacilitatorUnavailable,
  firstPaymentsMaximum,
  type IdempotencyConflict,
  type IdempotencyKeyInvalid,
  type IdempotencyKeyRequired,
  openPaymentsMaximum,
  type PaymentFailed,
  type PaymentInvalid,
  type PaymentRequired,
  type PaymentsUnavailable,
  ReconcileRequired,
  type SellingPaused,
} from "../../schema/payments/Errors.ts"
import type { PendingAttempt, SettledAttempt } from "./store/Attempt.ts"
import { PaymentRejected } from "./PaymentRejected.ts"

export type Outcome =
  | { readonly _tag: "Settled"; readonly attempt: SettledAttempt; readonly replayed: boolean }
  | { readonly _tag: "Pending"; readonly attempt: PendingAttempt }

export type PipelineRefusal =
  | BadRequest
  | IdempotencyKeyRequired
  | IdempotencyKeyInvalid
  | PaymentRequired
  | PaymentInvalid
  | PaymentFailed
  | IdempotencyConflict
  | AuthorizationAlreadyBound
  | PaymentsUnavailable
  | SellingPaused
  | FacilitatorUnavailable
  | RateLimited
  | ReconcileRequired

export const tooManyInFlight = (most: number) =>
  new ReconcileRequired({
    message: `A wallet may have ${firstPaymentsMaximum} payments in flight here, as many again for each that it has paid, and ${openPaymentsMaximum} at most. For an hour after a payment of it failed in its block it may have one. The limit of this wallet is ${most} now. POST /api/reconcile/{Idempotency-Key} for each payment in flight, then send the same request again. This request charged nothing.`,
  })

export const overdrawn = new PaymentRejected({
  reason: "insufficient_funds",
  message:
    "The paying wallet holds less USDC than this price and its payments in flight here. Fund it, or wait for them, and send the same request again. This request charged nothing.",
})
