/** Runs the poll machine for one room with real timers and requests, until it is left. */
import * as Api from "./api.ts"
import type { Invite } from "./invite.ts"
import { begin, type Event, type Poll, type Step, step } from "./poll.ts"

export interface Listener {
  /** `before` is the state that the answer met: it distinguishes news from history. */
  readonly answered: (signals: Api.Signals, before: Poll) => void
  /** `seconds` until the next attempt; undefined when there is none. */
  readonly refused: (problem: Api.Problem, seconds: number | undefined) => void
  readonly resting: () => void
}

export interface Loop {
  /** Asks as soon as allowed. */
  readonly wanted: () => void
  readonly leave: () => void
}

export const follow = (invite: Invite, listener: Listener): Loop => {
  const stop = new AbortController()
  const isVisible = () => document.visibilityState !== "hidden"
  const first = begin(isVisible())
  let poll = first.poll
  let timer = 0

  const happened = (event: Event) => {
    const next = step(poll, event)
    poll = next.poll
    obey(next)
    return next
  }

  const asked = (answer: Api.Answer<Api.Signals>) => {
    if (stop.signal.aborted) return
    const before = poll
    if (answer.ok) {
      happened({ _tag: "Answered", signals: answer.value })
      listener.answered(answer.value, before)
      return
    }
    const { order } = happened({ _tag: "Refused", problem: answer.problem })
    listener.refused(answer.problem, order._tag === "Wait" ? order.seconds : undefined)
  }

  const obey = ({ order }: Step) => {
    if (order._tag === "Carry on") return
    window.clearTimeout(timer)
    switch (order._tag) {
      case "Ask":
        void Api.read(invite, order.after, stop.signal).then(asked)
        return
      case "Wait":
        timer = window.setTimeout(() => happened({ _tag: "Due" }), order.seconds * 1000)
        return
      case "Rest":
        if (poll.phase === "resting") listener.resting()
    }
  }

  const wanted = () => void happened({ _tag: "Wanted" })
  document.addEventListener("visibilitychange", () => happened({ _tag: "Seen", visible: isVisible() }), {
    signal: stop.signal,
  })
  window.addEventListener("online", wanted, { signal: stop.signal })
  obey(first)

  return {
    wanted,
    leave: () => {
      window.clearTimeout(timer)
      stop.abort()
    },
  }
}
