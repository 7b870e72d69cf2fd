/** A paid request once its intent is on disk: what was asked, what was signed, and how it ended. */
import { DateTime, type Schema } from "effect"
import { type Payment, paymentOf, type PaymentRow } from "./Payment.ts"

export interface Attempt {
  readonly id: string
  readonly idempotencyKey: string
  /** SHA-256 over method, canonical URL and canonical body. */
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  /** Atomic USDC, however it is paid. */
  readonly amountAtomic: bigint
  readonly payment: Payment
  readonly number: number | null
  readonly state: "pending" | "settled" | "failed"
  readonly reason: string | null
  /** RFC 3339 UTC with milliseconds, as are all times here. */
  readonly acceptedAt: string
  readonly checks: number
  /** The exact first answer; its last member is `"replayed":false`. */
  readonly answer: string | null
  /** What the answer says of the payment in its header. */
  readonly paymentResponse: string | null
}

/** The row as the driver returns it. */
export interface AttemptRow extends PaymentRow {
  readonly id: string
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: string
  readonly poolNumber: number | null
  readonly state: "pending" | "settled" | "failed"
  readonly reason: string | null
  readonly acceptedAt: Date
  readonly checks: number
  readonly answer: string | null
  readonly paymentResponse: string | null
}

export const fromRow = (row: AttemptRow): Attempt => ({
  id: row.id,
  idempotencyKey: row.idempotencyKey,
  fingerprint: row.fingerprint,
  act: row.act,
  url: row.url,
  input: JSON.parse(row.input),
  amountAtomic: BigInt(row.amountAtomic),
  payment: paymentOf(row),
  number: row.poolNumber,
  state: row.state,
  reason: row.reason,
  acceptedAt: row.acceptedAt.toISOString(),
  checks: row.checks,
  answer: row.answer,
  paymentResponse: row.paymentResponse,
})

/** RFC 3339 UTC with milliseconds and `Z`. */
export const timestampOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
