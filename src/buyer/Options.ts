/** The options of a buyer and its progress reports. */
import type { Account } from "./core/Authorization.ts"
import type { Journal } from "./core/Journal.ts"
import type { Policy } from "./Policy.ts"

export type Progress =
  | { readonly step: "signed"; readonly key: string; readonly amountAtomic: string; readonly payTo: string }
  | { readonly step: "repeated"; readonly key: string }
  /** A failed payment for this URL could still be used: nothing is signed for so many seconds. */
  | { readonly step: "waiting"; readonly key: string; readonly seconds: number }
  | { readonly step: "pending"; readonly key: string; readonly seconds: number }
  | { readonly step: "unkept"; readonly key: string; readonly because: string }
  | { readonly step: "silent"; readonly key: string; readonly seconds: number; readonly because: string }

/** Options of one call. A call aborted after signing stays in the journal; its key resumes it. */
export interface Call {
  readonly signal?: AbortSignal
}

export interface Options {
  /** Public URL of the altar; a challenge must name exactly the URL that was requested there. */
  readonly url: string
  /** The payer; without one, only free calls work. */
  readonly account?: Account
  readonly policy?: Policy
  /** In memory when absent. */
  readonly journal?: Journal
  readonly fetch?: typeof fetch
  /** Allows plain http to another machine, where anyone on the network can read and change everything. */
  readonly insecure?: boolean
  readonly onProgress?: (progress: Progress) => void
}

/** The options of a buyer whose calls share a journal. */
export type Kept = Options & Required<Pick<Options, "journal">>
