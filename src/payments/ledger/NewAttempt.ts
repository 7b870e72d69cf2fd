/** What an intent is written of, and what came of writing it. */
import type { Schema } from "effect"
import type { Hex } from "viem"
import { timestampOf } from "../../platform/Time.ts"
import type { Claims } from "../PaidAct.ts"
import type { Payment } from "../Payment.ts"
import type { Attempt } from "./Attempt.ts"
import type { AttemptState } from "./Lookup.ts"

/** Atomic units that a wallet held when it was asked for, at `asOfMillis` or a little later. */
export interface PayerBalance {
  readonly balanceAtomic: bigint
  readonly asOfMillis: number
  /** Whether what its payments in flight have taken is back in it. */
  readonly isExact: boolean
  /** Whether it has code and its gas is ours: in its block such a wallet may refuse what it agreed to. */
  readonly isContract: boolean
}

export interface NewAttempt {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  readonly amountAtomic: bigint
  readonly payment: Payment
  /** The x402 payload as sent; empty for a card. */
  readonly payload: string
  readonly claims: Claims
  /** What its wallet can pay with; absent for a card, and for what is paid already. */
  readonly balance?: PayerBalance | undefined
  readonly acceptedAtMillis: number
  /** Milliseconds after which another server may look at it. */
  readonly leaseMillis: number
}

/** Whether it is let in as the payment of a wallet without code, of which more may be open. */
export const isCodeless = ({ balance }: Pick<NewAttempt, "balance">) => balance?.isContract === false

/** A payment of a wallet that may still leave its balance, or has just left it. */
export interface InFlight {
  readonly nonce: Hex
  readonly amountAtomic: bigint
}

export type ClaimOutcome =
  | { readonly _tag: "Claimed"; readonly attempt: Attempt }
  | { readonly _tag: "Conflict"; readonly state: AttemptState }
  /** The wallet has too much in flight for its balance, or has as many as it may, `most`. */
  | {
      readonly _tag: "Overdrawn"
      readonly tooMany: boolean
      readonly most: number
      readonly inFlight: ReadonlyArray<InFlight>
    }
  /** Nothing is sent for the wallet at our cost for a while, and why. */
  | { readonly _tag: "Distrusted"; readonly reason: string }

/** Milliseconds by which servers' clocks may differ: what settled so long before a balance was read may not be in it. */
const clockSkew = 60_000

export const sinceOf = ({ asOfMillis }: PayerBalance) => timestampOf(asOfMillis - clockSkew)
