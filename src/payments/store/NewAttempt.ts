/** The input of a claim and its outcome. */
import type { Schema } from "effect"
import type { Hex } from "viem"
import { timestampOf } from "../../platform/Time.ts"
import type { Claims } from "../Act.ts"
import type { Payment } from "../Payment.ts"
import type { Attempt } from "./Attempt.ts"
import type { AttemptState } from "./Lookup.ts"

/** A wallet's balance in atomic units, read at `asOfMillis` or a little later. */
export interface PayerBalance {
  readonly balanceAtomic: bigint
  readonly asOfMillis: number
  /** Whether payments in flight are added back. */
  readonly isExact: boolean
}

export interface NewAttempt {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  readonly amountAtomic: bigint
  readonly payment: Payment
  readonly claims: Claims
  /** The wallet's balance, absent for a card and for a payment that is already made. */
  readonly balance?: PayerBalance | undefined
  readonly acceptedAtMillis: number
  /** Milliseconds after which another server may inquire. */
  readonly leaseMillis: number
}

/** A payment of a wallet that may still leave its balance, or has just left it. */
export interface InFlight {
  readonly nonce: Hex
  readonly amountAtomic: bigint
}

export type ClaimOutcome =
  | { readonly _tag: "Claimed"; readonly attempt: Attempt }
  | { readonly _tag: "Conflict"; readonly state: AttemptState }
  /** The balance does not cover the payments in flight, or their number has reached its limit `most`. */
  | {
      readonly _tag: "Overdrawn"
      readonly tooMany: boolean
      readonly most: number
      readonly inFlight: ReadonlyArray<InFlight>
    }

/** Maximum difference between servers' clocks in milliseconds. A balance may miss a payment settled within it. */
const clockSkew = 60_000

export const sinceOf = ({ asOfMillis }: PayerBalance) => timestampOf(asOfMillis - clockSkew)
