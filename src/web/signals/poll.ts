/**
 * The poll machine of a room, without effects: when to ask next, and which messages are news. It polls while the page
 * is visible and rests while it is hidden, continues after the last sequence seen, and never reports history as news.
 */
import { pace } from "../../../schema/room/Limits.ts"
import { isOver, type Message, type Problem, type Signals } from "./api.ts"

/** Maximum seconds between two attempts without an answer. */
const slowest = 30

export interface Poll {
  /** `limited` is a wait that the server asked for; it continues while the page is hidden. */
  readonly phase: "asking" | "waiting" | "limited" | "resting" | "ended"
  readonly visible: boolean
  /** The newest sequence number seen. */
  readonly cursor: number
  /** Whether history has been read; later messages are news. */
  readonly joined: boolean
  /** Consecutive attempts without an answer. */
  readonly failures: number
  /** An answer newer than the one in flight is wanted. */
  readonly again: boolean
}

export type Event =
  | { readonly _tag: "Answered"; readonly signals: Signals }
  | { readonly _tag: "Refused"; readonly problem: Problem }
  | { readonly _tag: "Due" }
  | { readonly _tag: "Wanted" }
  | { readonly _tag: "Seen"; readonly visible: boolean }

export type Order =
  | { readonly _tag: "Ask"; readonly after: number }
  | { readonly _tag: "Wait"; readonly seconds: number }
  | { readonly _tag: "Rest" }
  | { readonly _tag: "Carry on" }

export interface Step {
  readonly poll: Poll
  readonly order: Order
}

const carryOn = (poll: Poll): Step => ({ poll, order: { _tag: "Carry on" } })
const rest = (poll: Poll): Step => ({ poll: { ...poll, phase: "resting" }, order: { _tag: "Rest" } })

const ask = (poll: Poll): Step =>
  poll.visible
    ? { poll: { ...poll, phase: "asking", again: false }, order: { _tag: "Ask", after: poll.cursor } }
    : rest(poll)

const wait = (poll: Poll, seconds: number): Step =>
  poll.visible ? { poll: { ...poll, phase: "waiting" }, order: { _tag: "Wait", seconds } } : rest(poll)

export const begin = (visible: boolean): Step =>
  ask({ phase: "resting", visible, cursor: 0, joined: false, failures: 0, again: false })

/** Messages that this page has not shown yet. */
export const unseen = (poll: Poll, { messages }: Signals): ReadonlyArray<Message> =>
  messages.filter(({ seq }) => seq > poll.cursor)

/** The message whose light and sound are played: only the newest, even after a long absence. */
export const felt = (poll: Poll, signals: Signals): Message | undefined =>
  poll.joined ? unseen(poll, signals).at(-1) : undefined

const answered = (poll: Poll, { messages, room }: Signals): Step => {
  const cursor = Math.max(poll.cursor, messages.at(-1)?.seq ?? room.latestSequence)
  const next: Poll = { ...poll, cursor, joined: true, failures: 0 }
  return poll.again ? ask(next) : wait(next, pace)
}

/** Only a refusal about the room itself ends it; a restarting server or a failing proxy says nothing of the room. */
const refused = (poll: Poll, problem: Problem): Step => {
  if (isOver(problem)) return { poll: { ...poll, phase: "ended" }, order: { _tag: "Rest" } }
  if (problem.code === "RATE_LIMITED") {
    return {
      poll: { ...poll, phase: "limited", again: false },
      order: { _tag: "Wait", seconds: Math.max(1, problem.retryAfter) },
    }
  }
  const failures = poll.failures + 1
  return wait({ ...poll, failures, again: false }, Math.min(pace * 2 ** (failures - 1), slowest))
}

export const step = (poll: Poll, event: Event): Step => {
  if (poll.phase === "ended") return carryOn(poll)
  switch (event._tag) {
    case "Answered":
      return answered(poll, event.signals)
    case "Refused":
      return refused(poll, event.problem)
    case "Due":
      return ask(poll)
    case "Wanted":
      if (poll.phase === "waiting") return ask(poll)
      return carryOn(poll.phase === "asking" ? { ...poll, again: true } : poll)
    case "Seen": {
      const next = { ...poll, visible: event.visible }
      if (event.visible) return poll.phase === "resting" ? ask(next) : carryOn(next)
      return poll.phase === "waiting" ? rest(next) : carryOn(next)
    }
  }
}
