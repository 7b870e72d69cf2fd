/**
 * When to ask the room again and what of its answer is news: a pure machine. It asks while somebody looks, rests while
 * nobody does, goes on from the last sequence it saw, and never takes history for news.
 */
import { pace } from "../../../schema/room/Limits.ts"
import { isOver, type Message, type Problem, type Signals } from "./api.ts"

/** Seconds at most between two attempts without an answer. */
const slowest = 30

export interface Poll {
  /** `limited` is a wait the server asked for: it goes on while the page is hidden. */
  readonly phase: "asking" | "waiting" | "limited" | "resting" | "ended"
  readonly visible: boolean
  /** The newest sequence number seen. */
  readonly cursor: number
  /** Whether history has been read; what follows is news. */
  readonly joined: boolean
  /** Attempts without an answer in a row. */
  readonly failures: number
  /** Somebody wants an answer that is newer than the one under way. */
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

/** Messages nobody has seen here yet. */
export const unseen = (poll: Poll, { messages }: Signals): ReadonlyArray<Message> =>
  messages.filter(({ seq }) => seq > poll.cursor)

/** The one message whose light and sound are played: the newest, so that a long absence does not end in a storm. */
export const felt = (poll: Poll, signals: Signals): Message | undefined =>
  poll.joined ? unseen(poll, signals).at(-1) : undefined

const answered = (poll: Poll, { messages, room }: Signals): Step => {
  const cursor = Math.max(poll.cursor, messages.at(-1)?.seq ?? room.latestSequence)
  const next: Poll = { ...poll, cursor, joined: true, failures: 0 }
  return poll.again ? ask(next) : wait(next, pace)
}

/** Only what says that the room is over ends it: a server that restarts or a proxy that fails says nothing of the room. */
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
