/** A paid request once its intent is on disk: what was asked, what was signed, and how it ended. */
import type { Schema } from "effect"
import { type Payment, paymentOf, type PaymentRow } from "../Payment.ts"

/** One look's reason to end an attempt as unpaid, which a later look has to agree with. */
export interface Doubt {
  readonly reason: string
  /** RFC 3339 UTC with milliseconds, by the database's clock. */
  readonly at: string
  /** Milliseconds that had passed when the attempt was read, by the database's clock. */
  readonly ageMillis: number
}

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
  /** What a facilitator refused it with, before any broadcast as it says. */
  readonly refusal: string | null
  /** Why the last look would have failed it; null when that look found it open, or none did find anything. */
  readonly doubt: Doubt | null
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
  readonly refusal: string | null
  readonly doubtedReason: string | null
  readonly doubtedAt: Date | null
  readonly doubtAge: number | null
  readonly acceptedAt: Date
  readonly checks: number
  readonly answer: string | null
  readonly paymentResponse: string | null
}

/** Milliseconds since the doubt, by the database's clock: those of several servers may differ. */
export const doubtAge = "(extract(epoch FROM now() - doubted_at) * 1000)::float8 AS doubt_age"

export const doubtOf = (row: Pick<AttemptRow, "doubtedReason" | "doubtedAt" | "doubtAge">): Doubt | null =>
  row.doubtedReason === null || row.doubtedAt === null
    ? null
    : { reason: row.doubtedReason, at: row.doubtedAt.toISOString(), ageMillis: row.doubtAge ?? 0 }

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
  refusal: row.refusal,
  doubt: doubtOf(row),
  acceptedAt: row.acceptedAt.toISOString(),
  checks: row.checks,
  answer: row.answer,
  paymentResponse: row.paymentResponse,
})
