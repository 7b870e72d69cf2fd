/** The parts of a state of the model, the explored worlds, and deliberate faults. */
import type { Adversary, Pool, View } from "./ModelChain.ts"

/** A row of `payment_attempts`. */
export interface Row {
  readonly state: "pending" | "settled" | "failed"
  readonly reason: string
  /** The transaction to look for. */
  readonly transaction: string
  readonly settledBlock: number
  readonly finality: "pending" | "final" | "lost"
  readonly doubt: string
  /** Whether that doubt is a sweep old. */
  readonly isRipe: boolean
  /** Whether a broadcast is recorded. */
  readonly isNoted: boolean
  /** How often its act was recorded. */
  readonly records: number
}

/** The settlement's latest answer; nothing where it was not asked. */
export type Said = "" | "submitted" | "unclear" | "unsent" | "unsent as used"

/** A server's work in memory. */
export interface Work {
  readonly at: "idle" | "note" | "broadcast" | "facilitator" | "look" | "write"
  /** The state of the attempt as it was read. */
  readonly of: Row["state"]
  /** The request that claimed the attempt. */
  readonly isFirst: boolean
  readonly said: Said
  /** The doubt that was ripe when the row was read. */
  readonly ripe: string
  /** Whether the row has another doubt by now. */
  readonly isStale: boolean
  /** The statement that comes next: its kind, and what it writes. */
  readonly statement: "" | "settle" | "fail" | "fail unsent" | "defer" | "confirm" | "lose"
  readonly patch: Partial<Row>
}

export const idle: Work = {
  at: "idle",
  of: "pending",
  isFirst: false,
  said: "",
  ripe: "",
  isStale: false,
  statement: "",
  patch: {},
}

export type Server = "one" | "two"

/** The scan's knowledge of final blocks. */
export interface Table {
  readonly read: number
  /** The transfer that it found; nothing before, or where its node had no logs. */
  readonly row: string
}

/** Whether the row is of our payment, not of another amount. */
export const paysBy = ({ row }: Table) => row !== "" && row !== "a"

export interface State {
  readonly truth: View
  readonly table: Table
  /** The knowledge of a stale node. */
  readonly lag: View
  readonly pool: Pool
  readonly row: Row
  readonly one: Work
  readonly two: Work
}

/** Deliberate faults, each with the world in which some invariant has to notice it. */
export const faults = {
  "one look is enough": "split",
  "one look loses": "split",
  "any node makes it final": "behind",
  "a used log is a payment": "cancelled",
  "an early look makes it final": "two servers",
  "final without looking": "behind",
  "what was taken back is pending again": "two servers",
  "settle without compare": "two servers",
  "fail without compare": "two servers",
  "unsent without compare": "two servers",
  "a note asks nobody": "two servers",
  "sent before noted": "two servers",
  "spent before it is final": "emptied",
  "the scan reads to the head": "behind",
  "a facilitator's refusal is believed": "facilitator",
  "a transfer of zero is no use": "spent",
} as const

export type Fault = keyof typeof faults

export interface World {
  readonly name: string
  readonly adversary: Adversary
  readonly servers: 1 | 2
  /** The submitter of payments: our relayer, or a facilitator that answers what it likes. */
  readonly settles: "relayer" | "facilitator"
  readonly fault?: Fault
}

/** A signature is valid in the first of two blocks. */
const relayed = { adversary: { expiry: 2, height: 2 }, settles: "relayer", servers: 2 } as const
const behind = { ...relayed, servers: 1, adversary: { ...relayed.adversary, lags: true } } as const
const facilitator = { ...behind, settles: "facilitator", adversary: { ...behind.adversary, moneyMoves: true } } as const
const emptied = { ...relayed, servers: 1, adversary: { expiry: 3, height: 3, moneyMoves: true } } as const

/** Explored whole by every run of the tests. */
export const small = {
  "two servers": { ...relayed, name: "two servers" },
  poor: { ...relayed, name: "two servers and money that moves", adversary: { ...relayed.adversary, moneyMoves: true } },
  behind: { ...behind, name: "a stale node" },
  cancelled: {
    ...behind,
    name: "a payer who cancels, and a stale node",
    adversary: { ...behind.adversary, payerCancels: true },
  },
  split: {
    ...behind,
    name: "questions that are asked together and answered by several nodes, and a payer who cancels",
    adversary: { ...behind.adversary, payerCancels: true, splitsBatches: true },
  },
  facilitator: { ...facilitator, name: "a facilitator that lies, and money that moves" },
  steady: {
    ...facilitator,
    name: "a facilitator that lies, and nodes that agree",
    adversary: { ...facilitator.adversary, lags: false },
  },
  "facilitator unheard": {
    ...relayed,
    name: "a facilitator that is unreachable or silent, and two servers",
    settles: "facilitator",
  },
  emptied: { ...emptied, name: "a wallet that is emptied before its block" },
  forgetful: {
    ...behind,
    name: "a stale node, and a scan whose node has no logs",
    adversary: { ...behind.adversary, forgets: true, payerCancels: true },
  },
  spent: {
    ...behind,
    name: "a payer who uses the nonce for nothing or another amount, a stale node, and a scan whose node has no logs",
    adversary: { ...behind.adversary, forgets: true, payerSpends: true },
  },
  refilled: {
    ...emptied,
    name: "a wallet that is emptied before its block, can pay again and is charged late",
    adversary: { ...emptied.adversary, expiry: 5, height: 5, blocksStay: true },
  },
} as const satisfies Record<string, World>
