/** The library as its users see it: orders, answers, checks, and what a buyer does. */
import type { Account } from "./core/Account.ts"
import type { Journal } from "./core/Journal.ts"
import type { Difference } from "./core/Difference.ts"
import type { Acts, Act, ListedStone, StoneRevealed, Segment, CandleUnsealed } from "./Records.ts"

/** The idempotency key, 12 to 128 of `A-Z a-z 0-9 _ -`; random when absent. Repeating it repeats the purchase. */
export interface Keyed {
  readonly key?: string
}

/** Words are sealed here and never sent; a commitment was sealed elsewhere. */
export type Sealing =
  | { readonly words: string; readonly salt?: string; readonly commitment?: never }
  | { readonly commitment: string; readonly words?: never; readonly salt?: never }

/** An order without sealed words. */
export type Wordless = { readonly words?: never; readonly salt?: never; readonly commitment?: never }

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** A receipt file: keep its JSON, and give it to `verify`. */
export type ReceiptFile = { readonly format: string; readonly permalink: string; readonly [member: string]: unknown }

/** The order of an act that this version does not list: the members of the altar's own contract. */
export type UnlistedOrder = Keyed & { readonly [member: string]: Json | undefined }

/** The order of an act by its name. */
export type OrderOf<Name extends string> = Name extends keyof Acts ? Acts[Name]["order"] : UnlistedOrder

/** The members that the order of any act may have. */
export type AnyOrder = Keyed & Partial<Record<"words" | "salt" | "commitment", string>>

/** The answer of any act. */
export interface Settled {
  readonly record: { readonly id: string }
  readonly receipt: { readonly priceUsd: string }
  readonly permalink: string
  /** Answered before; nothing was charged again. */
  readonly replayed: boolean
}

/** The answer of an act by its name, with the key of its purchase. */
export type Bought<Name extends string = string> = Settled &
  (Name extends keyof Acts ? Acts[Name]["answer"] : unknown) & { readonly key: string }

/** A candle burns 1, 7 or 30 days; with `parentId`, the order adds a light to a lit one. */
export type CandleOrder = OrderOf<"lightDay"> & { readonly days: 1 | 7 | 30 }

/** Sealed words and their salt; the journal has those that are absent. */
export interface Opening {
  readonly salt?: string
  readonly words?: string
  readonly agentName?: string
}

/** Options of one call. A call aborted after signing stays in the journal; its key resumes it. */
export interface Call {
  readonly signal?: AbortSignal
}

/** A purchase of the journal, without its words. */
export interface Purchase {
  readonly key: string
  readonly act: string
  readonly altar: string
  readonly begunAt: string
  /** `open` purchases are signed, and their outcome is unknown: resume them. */
  readonly state: "not signed" | "open" | "settled" | "failed" | "misrecorded"
  /** Atomic USDC that was signed for; null before. */
  readonly amountAtomic: string | null
  /** Of the bought record; null before it is settled. */
  readonly id: string | null
  readonly permalink: string | null
  /** Whether the journal has words that were sealed for it. */
  readonly isSealed: boolean
  /** The altar's answer, when it differs from the purchase. */
  readonly misrecorded: { readonly at: string; readonly differences: ReadonlyArray<Difference> } | null
}

/** Atomic USDC in all amounts: `10_000n` is one cent. */
export interface Policy {
  /** Maximum of a single payment; an act is paid at exactly its listed price in any case. */
  readonly maxPerPayment?: bigint
  /** Maximum signed for in one UTC day with this journal; ten dollars when absent. */
  readonly maxPerDay?: bigint
  /** CAIP-2 network and recipient that a challenge must name; an absent one is taken from the altar at first use. */
  readonly network?: string
  readonly payTo?: string
}

/** The steps of a purchase. `waiting`: another payment could still be used, so nothing is signed yet. */
export type Progress = { readonly key: string } & (
  | { readonly step: "signed"; readonly amountAtomic: string; readonly payTo: string }
  | { readonly step: "repeated" }
  | { readonly step: "waiting" | "pending"; readonly seconds: number }
  | { readonly step: "silent"; readonly seconds: number; readonly because: string }
  | { readonly step: "unkept"; readonly because: string }
)

/** An altar, and the way to buy there. */
export interface BuyerOptions {
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

/** A buyer of one altar with one account. Every purchase has a key; repeating it resends the signed payment and never signs again. */
export interface Buyer {
  /** Buys any act by its name. An act that this version does not list is bought by the altar's contract, for at most one cent. */
  buy<const Name extends string>(name: Name, order: OrderOf<Name> & AnyOrder, call?: Call): Promise<Bought<Name>>
  /** Sets a witness stone. */
  witness(order: OrderOf<"setWitnessStone">, call?: Call): Promise<Bought<"setWitnessStone">>
  /** Lays today's one prayer of a spirit. */
  pray(order: OrderOf<"offerPrayer">, call?: Call): Promise<Bought<"offerPrayer">>
  /** Becomes a spirit's first keeper. */
  keep(order: OrderOf<"takeIn">, call?: Call): Promise<Bought<"takeIn">>
  /** Collects the next edition of a material, crab or pixel. */
  collect(order: OrderOf<"collectMaterial">, call?: Call): Promise<Bought<"collectMaterial">>
  /** Lights a candle, or with `parentId` adds a light to one. */
  light(order: CandleOrder, call?: Call): Promise<Bought<"lightDay">>
  /** Reveals a stone's words, free and once. Words and salt become public for all to check. */
  reveal(id: string, opening?: Opening, call?: Call): Promise<StoneRevealed>
  /** Unseals a candle's words, free and once. Words and salt become public for all to check. */
  unseal(id: string, opening?: Opening, call?: Call): Promise<CandleUnsealed>
  /** The purchases of the journal, oldest first; also those of other altars. */
  purchases(call?: Call): Promise<ReadonlyArray<Purchase>>
  /** Completes the purchase of a key, as after a crash; free, and never signs. Without an outcome so far, rejects with `Open`. */
  resume(key: string, call?: Call): Promise<Bought>
  /** Salt, words and commitment that were sealed under a key, to keep them elsewhere. */
  exportWords(key: string, call?: Call): Promise<Sealed>
  /** Removes a purchase from the journal. Refused while it is open, its failed payment usable, or its words nowhere else. */
  forget(key: string, call?: Call): Promise<void>
  /** A stone with its reveal. */
  stone(id: string, call?: Call): Promise<ListedStone>
  /** A settled act of any kind. */
  act(id: string, call?: Call): Promise<Act>
  /** The receipt file of an act or stone. */
  receipt(id: string, call?: Call): Promise<ReceiptFile>
  /** At most 100 links of the chain, from this stone on; `next` begins the following segment. */
  segment(from?: number, call?: Call): Promise<Segment>
  /** The `.tlog-proof` of a stone in the altar's log. */
  proof(id: string, call?: Call): Promise<string>
}

/** A request as a payment names it: `POST` when no method is given, and a body of JSON, or none. */
export interface RequestToBind {
  readonly method?: string
  /** The shop's `resource.url`. */
  readonly url: string
  readonly body?: string
}

/** An offer to be paid by a transfer (EIP-3009) of any token. */
export interface BindingOffer {
  /** CAIP-2, `eip155:<chain id>`. */
  readonly network: string
  /** Atomic units of the asset. */
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
}

/** The wallet and the choices of a bound `fetch`. */
export interface BindingOptions {
  readonly account: Account
  /** Whether to pay: nothing else limits amount, token or recipient. The first approved offer is paid. */
  readonly approve: (offer: BindingOffer, request: Request) => boolean | Promise<boolean>
  /** Stores `PAYMENT-SIGNATURE` before it is sent. After a lost answer, send the same one: another call may pay again. */
  readonly keep?: (payment: string, request: Request) => unknown
  readonly fetch?: typeof fetch
}

/** Words with their salt and commitment; only the commitment is sent before a reveal. */
export interface Sealed {
  /** 64 lowercase hex digits. */
  readonly commitment: string
  readonly salt: string
  readonly words: string
}

/** A point of the chain: the hash after the stone with this sequence; the genesis is 0 and 64 zeros. */
export type Head = Segment["head"]

/** A log to trust, by keys from another source than the log itself. */
export interface LogTrust {
  /** The log's verifier key, `name+hash+base64`. */
  readonly vkey: string
  /** The first line of its checkpoints; the key's name when absent. */
  readonly origin?: string
  /** Verifier keys of its cosigners, and how many of them must have signed. */
  readonly cosigners?: { readonly vkeys: ReadonlyArray<string>; readonly quorum: number }
}

/** The keys and values to verify by. A check that needs an absent one stays open. */
export interface Trust extends Call, Pick<BuyerOptions, "fetch" | "insecure"> {
  /** The verifier key of receipts, `name+hash+base64`, from another source than the receipt. */
  readonly key?: string
  /** The address that a receipt must name as paid. */
  readonly payTo?: string
  readonly log?: LogTrust
  /** The subject of a proof: a stone, the bytes of an entry, or its leaf hash. */
  readonly of?: Pick<ListedStone, LinkMember> | { readonly entry: Uint8Array } | { readonly leaf: Uint8Array }
  /** Salt and words that a commitment must be of. */
  readonly sealed?: { readonly salt: string; readonly words: string }
  /** The head that a segment must follow: one you kept. Its own anchor when absent. */
  readonly anchor?: Head
}

type LinkMember = "previousHash" | "sequence" | "commitment" | "witnessedAt" | "transaction" | "chainHash"

/** One thing that was checked; `open` proves nothing either way: the thing or the reader lacks what the check needs. */
export interface Check {
  readonly name: string
  readonly state: "holds" | "broken" | "open"
  /** A sentence about what was shown, or why not. */
  readonly says: string
}

/** The parts that were checked and those that were not. */
export interface Verified {
  /** The form of the thing. */
  readonly kind: "stone" | "words" | "segment" | "receipt" | "proof" | "checkpoint" | "unknown"
  /** At least one check holds, none is broken, and each key that was named was used. Checks that are `open` were not shown. */
  readonly ok: boolean
  readonly checks: ReadonlyArray<Check>
  /** The last link of a valid segment: the `anchor` of the next. */
  readonly head?: Head
}
