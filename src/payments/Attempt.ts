/** A paid request once its intent is on disk: what was asked, what was signed, and how it ended. */
import { DateTime, Option, type Schema } from "effect"
import type { Address } from "../../schema/altar/Common.ts"
import type { SignedAuthorization } from "./Eip3009.ts"

export interface Attempt {
  readonly id: string
  readonly idempotencyKey: string
  /** SHA-256 over method, canonical URL and canonical body. */
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  readonly network: string
  readonly authorization: SignedAuthorization
  readonly fromBlock: bigint
  readonly number: number | null
  readonly state: "pending" | "settled" | "failed"
  readonly reason: string | null
  readonly transaction: Option.Option<`0x${string}`>
  /** RFC 3339 UTC with milliseconds, as are all times here. */
  readonly acceptedAt: string
  readonly checks: number
  /** The exact first answer; its last member is `"replayed":false`. */
  readonly answer: string | null
  readonly paymentResponse: string | null
}

/** The row as the driver returns it. */
export interface AttemptRow {
  readonly id: string
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: string
  readonly network: string
  readonly asset: Address
  readonly payTo: Address
  readonly payer: Address
  readonly nonce: `0x${string}`
  readonly amountAtomic: string
  readonly validAfter: string
  readonly validBefore: bigint
  readonly signature: `0x${string}`
  readonly fromBlock: bigint
  readonly poolNumber: number | null
  readonly state: "pending" | "settled" | "failed"
  readonly reason: string | null
  readonly transaction: `0x${string}` | null
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
  network: row.network,
  authorization: {
    asset: row.asset,
    from: row.payer,
    to: row.payTo,
    value: BigInt(row.amountAtomic),
    validAfter: BigInt(row.validAfter),
    validBefore: row.validBefore,
    nonce: row.nonce,
    signature: row.signature,
  },
  fromBlock: row.fromBlock,
  number: row.poolNumber,
  state: row.state,
  reason: row.reason,
  transaction: Option.fromNullishOr(row.transaction),
  acceptedAt: row.acceptedAt.toISOString(),
  checks: row.checks,
  answer: row.answer,
  paymentResponse: row.paymentResponse,
})

/** RFC 3339 UTC with milliseconds and `Z`. */
export const timestampOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
