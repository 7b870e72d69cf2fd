/** The parts of a state of the model, its configuration, and its faults. */
import { couldNotPay } from "../../../src/payments/protocol/Decision.ts"
import type { Adversary, Pool, View } from "./Chain.ts"

/** Deliberate faults, each with the world in which some invariant has to notice it. */
export const faults = {
  "one look is enough": "small.facilitator",
  "claim after network": "small.oneKey",
  "a reverted receipt fails": "small.oneKey",
  "time alone fails": "small.oneKey",
  "the newest block judges the end": "small.oneKey",
  "a cancellation need not be final": "small.cancelled",
  "a used log is a payment": "small.cancelled",
  "claims are kept": "small.oneKey",
  "the authorization is not claimed": "large.twoKeys",
  "final without looking": "small.behind",
  "two nodes make it final": "small.behind",
  "an early look makes it final": "small.oneKey",
  "what was taken back is pending again": "small.oneKey",
  "what was taken back is sent in another place": "small.resent",
  "one look loses": "small.split",
  "402 while pending": "large.anew",
  "settle without compare": "small.oneKey",
  "fail without compare": "small.oneKey",
  "unsent without compare": "small.oneKey",
  "unheard without compare": "small.unheard",
  "a note asks nobody": "small.oneKey",
  "a note keeps the doubt": "small.poor",
  "sent before noted": "small.oneKey",
  "a second nonce": "large.replaced",
  "a note does not name the one before": "large.replaced",
  "the search begins at the head": "small.oneKey",
  "a refusal is believed": "small.facilitator",
  "a group is noted for its first": "large.group",
  "a group is sent without those it lost": "large.group",
  "a group's receipt pays for all": "small.group",
  "what fails in a group is over": "small.group",
  "a revert past the end agrees": "small.steady",
  "too poor before it is final": "small.emptied",
  "too poor though it was sent again": "large.emptiedGroup",
  "nobody looks for what pays late": "small.refilled",
} as const

export type Fault = keyof typeof faults

/** A request that a client may send as often as it likes. */
export interface Request {
  readonly key: string
  readonly authorization: string
  readonly slot?: string
  /** The answer about another authorization that its client must have received first. */
  readonly after?: { readonly authorization: string; readonly told: keyof ClientAnswers }
}

export interface Configuration {
  readonly name: string
  readonly adversary: Adversary
  readonly servers: 1 | 2
  readonly requests: ReadonlyArray<Request>
  /** Authorizations an honest client signs for one and the same purchase. */
  readonly purchase?: string
  /** The submitter of payments: our relayer, or a facilitator that answers what it likes. */
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
  /** The newest broadcast's hash; for a facilitator, that a server has leased it to resubmit it. */
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

/** The reason of an attempt whose wallet could not pay. */
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

/** The answers to clients, by authorization. */
export interface ClientAnswers {
  /** Refused, and another one may be signed for the same key. */
  readonly refused: string
  /** It never paid and never will: "Nothing was charged". */
  readonly failed: string
}

/** A server's work in memory; nothing, at first. */
const memory = {
  key: "",
  authorization: "",
  slot: "",
  /** The inquirer: a look at an open attempt, or at a settled one, early before its block is final; the rest looks for strays. */
  asks: "" as "" | "conclude" | "finality" | "early" | "is unused" | "used by" | "late",
  isFirst: false,
  /** Whether settlement has just said something. */
  isSubmitted: false,
  /** Where to look. */
  hint: "",
  /** The doubt that was ripe when the row was read; `!` before it once the row's is another. */
  ripe: "",
  /** The source of the refusal: the facilitator's word from the row or just now, or our relayer's. */
  refusal: "",
  /** Our relayer's, to the first request. */
  unsent: "",
  /** The broadcast that is noted, as far as this work knows; and the one being made. */
  noted: "",
  making: "",
  /** The key of an attempt that travels along in the same transaction, and the broadcast that was noted for it when it was taken along. */
  passenger: "",
  passengerNoted: "",
  fromBlock: 0,
  upTo: 0,
  isUsed: false,
  log: "",
  block: "",
  outcome: "",
}

type Memory = Readonly<typeof memory>

interface Step {
  /** It only reads: it asks a node, or reads of the database before the server acts on that. */
  readonly reads?: true
  /** The remaining needs; the rest is forgotten, so that fewer states differ. All of it where nothing is named. */
  readonly needs?: ReadonlyArray<keyof Memory>
}

const base = ["key", "authorization", "asks", "hint", "ripe", "fromBlock"] as const
const inLook = [...base, "slot", "isSubmitted", "refusal", "unsent"] as const
const inBroadcast = [...base, "isFirst", "noted", "making", "passenger", "passengerNoted", "outcome"] as const

const stepsOf = <Name extends string>(all: Readonly<Record<Name, Step>>) => all

/** Where a server's work may be. */
export const steps = stepsOf({
  idle: {},
  verify: { reads: true, needs: ["key", "authorization", "slot"] },
  owner: { reads: true },
  trace: { reads: true },
  fresh: { reads: true },
  stray: {},
  claim: {},
  "lost claim": { reads: true },
  rehearse: { reads: true, needs: inBroadcast },
  note: { needs: inBroadcast },
  send: { needs: [...inBroadcast, "slot"] },
  refused: { reads: true, needs: inBroadcast },
  hold: {},
  facilitator: {},
  receipt: { reads: true, needs: inLook },
  heads: { reads: true, needs: inLook },
  logs: { reads: true },
  "receipt of log": { reads: true },
  "final block": { reads: true },
  settle: { needs: ["key", "log", "block"] },
  fail: { needs: ["key", "ripe", "outcome"] },
  "fail unsent": { needs: ["key", "outcome"] },
  defer: { needs: ["key", "hint", "isSubmitted", "refusal", "outcome"] },
  "newest broadcast": { reads: true },
  "find broadcast": { reads: true },
  "ask for broadcast": { reads: true },
  answer: { reads: true },
  "still final": { reads: true },
  found: { needs: ["key", "log", "block", "outcome"] },
  lose: { needs: ["key", "ripe", "outcome"] },
  "still open": { needs: ["key", "outcome"] },
  "open again": { needs: ["key"] },
})

/** One server's work: where it is, and what it holds in memory. */
export type Work = Memory & { readonly at: keyof typeof steps }

export const idle: Work = { at: "idle", ...memory }

/** The work without what it needs no more. */
export const trimmed = (work: Work): Work => {
  const { needs } = steps[work.at]
  return needs === undefined
    ? work
    : Object.assign({ ...idle, at: work.at }, ...needs.map((name) => ({ [name]: work[name] })))
}

// A type alias, since an interface has no index signature.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type State = {
  readonly truth: View
  readonly lag: View
  readonly pool: Pool
  readonly database: Database
  readonly told: ClientAnswers
  readonly one: Work
  readonly two: Work
}

export type Server = "one" | "two"
