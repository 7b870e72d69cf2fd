/** What a buyer is made of, and what it tells while it works. */
import type { Endpoint } from "./Acts.ts"
import type { Journal } from "./core/Journal.ts"
import type { Policy } from "./Policy.ts"
import type { Account } from "./Signer.ts"

export type Progress =
  | { readonly step: "signed"; readonly key: string; readonly amountAtomic: string; readonly payTo: string }
  | { readonly step: "repeated"; readonly key: string }
  | { readonly step: "pending"; readonly key: string; readonly seconds: number }
  | { readonly step: "unkept"; readonly key: string; readonly because: string }
  | { readonly step: "silent"; readonly key: string; readonly seconds: number; readonly because: string }

/** Of one call. What is aborted after it was signed stays in the journal and is taken up again by its key. */
export interface Call {
  readonly signal?: AbortSignal
}

export interface Options {
  /** Public URL of the altar; a challenge must name exactly what was asked there. */
  readonly url: string
  /** Who pays; without one everything that is free works. */
  readonly account?: Account
  readonly policy?: Policy
  /** Forgotten with the process when absent. */
  readonly journal?: Journal
  readonly fetch?: typeof fetch
  /** Allows plain http to another machine, where anybody on the way can read and change what is said. */
  readonly insecure?: boolean
  /** What is sold there; the contract of this version when absent. */
  readonly sales?: ReadonlyArray<Endpoint>
  readonly onProgress?: (progress: Progress) => void
}
