/** What a state of the model is made of, how it is configured, and which faults can be put into it. */
import { couldNotPay } from "../../../src/payments/protocol/Decision.ts"
import type { Adversary, Pool, View } from "./Chain.ts"

/** Deliberate faults, each of which some invariant has to catch. */
export const faults = {
  "one look is enough": "a doubt fails an attempt at once",
  "claim after network": "the payment is handed in before the intent is on disk",
  "a reverted receipt fails": "a receipt that reverted is taken for the end",
  "time alone fails": "an authorization past its end at the newest block fails without looking whether it was used",
  "the newest block judges the end": "the end is read at the newest block, not at the final one",
  "a cancellation need not be final": "what ended an authorization is believed before its block is final",
  "a used log is a payment": "AuthorizationUsed is taken for the transfer",
  "claims are kept": "a failed attempt releases nothing",
  "the authorization is not claimed": "only key and slot are unique",
  "final without looking": "a settled transfer counts as final because its block number is",
  "two nodes make it final": "the final block of one node and the block that another one has below it are compared",
  "an early look makes it final": "a look before the block is final calls it final when it finds the transfer there",
  "what was taken back is pending again": "a settled attempt whose block is gone is opened anew",
  "what was taken back is sent in another place": "it is sent again under a new nonce",
  "one look loses": "a settled transfer is lost by one look at a node without its log",
  "402 while pending": "a repeated request is offered to pay anew while its attempt is open",
  "settle without compare": "an act is recorded whatever its attempt's state is",
  "fail without compare": "an attempt fails whatever its state or doubt is by now",
  "unsent without compare": "what was never sent fails although somebody has noted a broadcast",
  "unheard without compare": "what a facilitator never read fails although somebody else hands it in again",
  "a note asks nobody": "a broadcast of an ended attempt is noted and sent",
  "a note keeps the doubt": "a broadcast leaves standing what was doubted before it",
  "sent before noted": "a broadcast is sent before it is noted",
  "a second nonce": "a stuck broadcast is replaced under a new nonce",
  "a note does not name the one before": "a replacement is noted whoever has replaced it already",
  "the search begins at the head": "logs are searched from the newest block at verification",
  "a refusal is believed": "a facilitator's refusal fails an attempt without the chain's word",
  "a group is noted for its first": "whoever travels along in a group has no note of it",
  "a group is sent without those it lost": "a group is sent although somebody has ended or noted one of it meanwhile",
  "a group's receipt pays for all": "a neighbour's transfer in a group's receipt is taken for one's own",
  "what fails in a group is over": "a group's receipt without the transfer is taken for the end",
  "a revert past the end agrees":
    "a transfer that reverts because a block that is not final is past its end counts as refused by the chain",
  "too poor before it is final": "a wallet that cannot pay at the newest block fails its payment, whatever is final",
  "too poor though it was sent again": "it fails by one final transaction while another one of ours may still pay",
  "nobody looks for what pays late": "a payment that failed as its wallet could not pay is never looked at again",
} as const

export type Fault = keyof typeof faults

/** A request that a client may send as often as it likes. */
export interface Request {
  readonly key: string
  readonly authorization: string
  readonly slot?: string
  /** What its client must have heard first, of another authorization. */
  readonly after?: { readonly authorization: string; readonly told: keyof Told }
}

export interface Configuration {
  readonly name: string
  readonly adversary: Adversary
  readonly servers: 1 | 2
  readonly requests: ReadonlyArray<Request>
  /** Authorizations an honest client signs for one and the same purchase. */
  readonly purchase?: string
  /** Who brings payments to the chain: our relayer, or a facilitator that answers what it likes. */
  readonly settles: "relayer" | "facilitator"
  /** Broadcasts of one attempt at most. */
  readonly versions: number
  /**
   * Whether payments that wait travel in one transaction of our relayer. Then the story begins where both requests are
   * claimed and the first server is about to send them together; a second one holds the later request itself. Each is
   * judged by itself, so only the later one is followed to its end.
   */
  readonly groups?: boolean
  /** Whether two questions that are asked together may be answered by different nodes. */
  readonly splitsBatches?: boolean
  /** Whether servers' clocks may call an authorization untimely that is not. */
  readonly clocksDiffer?: boolean
  /** Whether one look is one step, each of its questions still going to any node; otherwise each question is a step. */
  readonly looksAreWhole?: boolean
  /** Whether what is known not to be promised counts as well; see "Beyond" in README.md. */
  readonly isStrict?: boolean
  readonly fault?: Fault
}

/** A row of `payment_attempts` with its row of `relayer_broadcasts`. */
export interface Row {
  readonly authorization: string
  readonly slot: string
  readonly state: "pending" | "settled" | "failed"
  readonly reason: string
  /** `transaction`. */
  readonly transaction: string
  /** `current_transaction`. */
  readonly moved: string
  readonly settledBlock: number
  readonly fromBlock: number
  readonly refusal: string
  readonly doubt: string
  /** Whether that doubt is a sweep old. */
  readonly isRipe: boolean
  /** The newest broadcast's hash; of a facilitator, that somebody has held it to hand it in again. */
  readonly note: string
  readonly finality: "pending" | "final" | "lost"
  /** How often its act was recorded. */
  readonly records: number
  /** Whether our relayer has sent it again once it was settled; only a test reads it. */
  readonly isResent: boolean
  /** Whether its transfer would have reverted at some moment after a refusal was a sweep old; only an invariant reads it. */
  readonly wasPoor: boolean
}

/** Whether this work is about an attempt that is settled already. */
export const isOfSettled = ({ asks }: Work) => asks === "finality" || asks === "early"

/** What an attempt fails with whose wallet could not pay. */
export const tooPoor = couldNotPay

/** Whether an attempt is followed to its end. */
export const isFollowed = ({ groups, requests }: Configuration, key: string) =>
  groups !== true || key === requests.at(-1)?.key

export interface Database {
  readonly rows: Readonly<Record<string, Row>>
  /** `payment_claims`: the key that holds each name. */
  readonly claims: Readonly<Record<string, string>>
  /** `payment_strays`. */
  readonly strays: string
}

/** What clients were told, by authorization. */
export interface Told {
  /** Refused, and another one may be signed for the same key. */
  readonly refused: string
  /** It never paid and never will: "Nothing was charged". */
  readonly failed: string
}

/** One server's work: where it is, and what it holds in memory. */
export interface Work {
  readonly at:
    | "idle"
    | "verify"
    | "owner"
    | "trace"
    | "fresh"
    | "stray"
    | "claim"
    | "lost claim"
    | "rehearse"
    | "note"
    | "send"
    | "refused"
    | "hold"
    | "facilitator"
    | "receipt"
    | "heads"
    | "logs"
    | "receipt of log"
    | "final block"
    | "settle"
    | "fail"
    | "fail unsent"
    | "defer"
    | "newest broadcast"
    | "find broadcast"
    | "ask for broadcast"
    | "answer"
    | "still final"
    | "found"
    | "lose"
    | "still open"
    | "open again"
  readonly key: string
  readonly authorization: string
  readonly slot: string
  /** Who wants to know: a look at an open attempt, or at a settled one, early before its block is final; the rest looks for strays. */
  readonly asks: "" | "conclude" | "finality" | "early" | "is unused" | "used by" | "late"
  readonly isFirst: boolean
  /** Whether settlement has just said something. */
  readonly isSubmitted: boolean
  /** Where to look. */
  readonly hint: string
  /** The doubt that was ripe when the row was read; `!` before it once the row's is another. */
  readonly ripe: string
  /** What refused it: the facilitator's word from the row or just now, or our relayer's. */
  readonly refusal: string
  /** Our relayer's, to the first request. */
  readonly unsent: string
  /** The broadcast that is noted, as far as this work knows; and the one being made. */
  readonly noted: string
  readonly making: string
  /** The key of an attempt that travels along in the same transaction, and the broadcast that was noted for it when it was taken along. */
  readonly passenger: string
  readonly passengerNoted: string
  readonly fromBlock: number
  readonly upTo: number
  readonly isUsed: boolean
  readonly log: string
  readonly block: string
  readonly outcome: string
}

export const idle: Work = {
  at: "idle",
  key: "",
  authorization: "",
  slot: "",
  asks: "",
  isFirst: false,
  isSubmitted: false,
  hint: "",
  ripe: "",
  refusal: "",
  unsent: "",
  noted: "",
  making: "",
  passenger: "",
  passengerNoted: "",
  fromBlock: 0,
  upTo: 0,
  isUsed: false,
  log: "",
  block: "",
  outcome: "",
}

// A type alias, since an interface has no index signature.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type State = {
  readonly truth: View
  readonly lag: View
  readonly pool: Pool
  readonly database: Database
  readonly told: Told
  readonly one: Work
  readonly two: Work
}

export type Server = "one" | "two"
