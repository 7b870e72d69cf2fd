/** The states of a purchase and the move that each answer causes in each of them, for library, command and page. */
import type { Outcome, Refusal } from "./Outcome.ts"

/** The next request: unsigned for the price, signed, or a question for the outcome. */
export type State = "price" | "pay" | "ask"

/** The meanings of an answer. `unknown` is a key without an attempt, and `busy` a refusal that a retry may change. */
export type Event = "settled" | "pending" | "priced" | "unknown" | "refused" | "busy" | "silent"

/** `send` repeats the request itself, with its payment once there is one. */
export type Move = "keep" | "sign" | "refuse" | "send" | "ask"

/**
 * From the signature on, nothing is signed again, and neither a fault nor silence ends the purchase. The outcome of a key
 * ends it only when it is the act that was bought: the key may belong to another.
 */
export const table: Readonly<Record<State, Readonly<Record<Event, Move>>>> = {
  price: {
    settled: "keep",
    pending: "ask",
    priced: "sign",
    unknown: "refuse",
    refused: "refuse",
    busy: "send",
    silent: "send",
  },
  pay: {
    settled: "keep",
    pending: "ask",
    priced: "refuse",
    unknown: "refuse",
    refused: "refuse",
    busy: "ask",
    silent: "ask",
  },
  ask: {
    settled: "keep",
    pending: "ask",
    priced: "send",
    unknown: "send",
    refused: "send",
    busy: "ask",
    silent: "ask",
  },
}

/** Refusals that last: nothing is sold now, so an unsigned buyer is told at once. */
const closed: ReadonlySet<string> = new Set(["payments_unavailable", "selling_paused"])

const isBusy = ({ code, status }: Refusal, state: State) =>
  (status === 429 || status >= 500 || code === "reconcile_required") && (state !== "price" || !closed.has(code))

export const eventOf = (outcome: Outcome, state: State): Event => {
  if (outcome.tag === "unpaid") return "priced"
  if (outcome.tag !== "refused") return outcome.tag
  if (state === "ask" && outcome.refusal.status === 404) return "unknown"
  return isBusy(outcome.refusal, state) ? "busy" : "refused"
}

/** Requests until the loop gives up: consecutive ones without an outcome, before and after the signature, and all. */
export interface Patience {
  readonly unsigned: number
  readonly signed: number
  readonly all: number
}

/** A program waits as long as the altar works. */
export const program: Patience = { unsigned: 3, signed: 11, all: Infinity }

/** A page asks only while a reader waits, and lets the reader try again. */
export const page: Patience = { unsigned: 1, signed: 11, all: 40 }
