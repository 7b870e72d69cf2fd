/**
 * Follows a room until it is left. Polls while the page is visible and rests while it is hidden, continues after the
 * last sequence seen, and never reports history as news.
 */
import { pace } from "../../../schema/room/Limits.ts"
import { type Answer, isOver, type Message, type Problem, type Signals } from "./api.ts"

/** Maximum seconds between two attempts without an answer. */
const slowest = 30

export interface Listener {
  readonly isVisible: () => boolean
  readonly read: (after: number) => Promise<Answer<Signals>>
  /** `unseen` are the messages that this page has not shown; the first answer's are history. */
  readonly answered: (signals: Signals, unseen: ReadonlyArray<Message>, isHistory: boolean) => void
  /** `seconds` until the next attempt; undefined while the page is hidden. */
  readonly failed: (problem: Problem, seconds: number | undefined) => void
  /** A refusal about the room itself; a restarting server or a failing proxy says nothing of the room. */
  readonly over: (problem: Problem) => void
  readonly resting: () => void
}

export const follow = ({ answered, failed, isVisible, over, read, resting }: Listener) => {
  /** `limited` is a wait that the server asked for; it continues while the page is hidden. */
  let state: "asking" | "waiting" | "limited" | "resting" | "left" = "resting"
  let timer: ReturnType<typeof setTimeout> | undefined
  let [cursor, failures, isJoined, isWanted] = [0, 0, false, false]

  const rest = () => {
    state = "resting"
    resting()
  }

  const wait = (next: "waiting" | "limited", seconds: number) => {
    state = next
    timer = setTimeout(() => void ask(), seconds * 1000)
  }

  const ask = async (): Promise<void> => {
    clearTimeout(timer)
    if (!isVisible()) return rest()
    state = "asking"
    isWanted = false
    const answer = await read(cursor)
    if (state !== "asking") return
    if (answer.ok) {
      const { messages, room } = answer.value
      const unseen = messages.filter(({ seq }) => seq > cursor)
      cursor = Math.max(cursor, messages.at(-1)?.seq ?? room.latestSequence)
      failures = 0
      answered(answer.value, unseen, !isJoined)
      isJoined = true
      if (isWanted) return ask()
      return isVisible() ? wait("waiting", pace) : rest()
    }
    const { problem } = answer
    if (isOver(problem)) {
      state = "left"
      return over(problem)
    }
    const isLimited = problem.code === "RATE_LIMITED"
    const seconds = isLimited ? Math.max(1, problem.retryAfter) : Math.min(pace * 2 ** failures, slowest)
    if (!isLimited) failures += 1
    failed(problem, isLimited || isVisible() ? seconds : undefined)
    return isLimited ? wait("limited", seconds) : isVisible() ? wait("waiting", seconds) : rest()
  }

  void ask()
  return {
    /** Asks as soon as allowed, for an answer newer than the one in flight. */
    wanted: () => {
      isWanted = true
      if (state === "waiting") void ask()
    },
    /** The page was shown or hidden. */
    seen: () => {
      if (state === "resting" && isVisible()) void ask()
      if (state !== "waiting" || isVisible()) return
      clearTimeout(timer)
      rest()
    },
    leave: () => {
      clearTimeout(timer)
      state = "left"
    },
  }
}
