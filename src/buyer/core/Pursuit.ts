/** The one loop of a purchase, for library, command and page: after each answer, what to do and what to ask next. */
import { type Asked, nextStep, type NextStep, type Outcome, waitOf } from "./Outcome.ts"

/** Where a purchase stands before the next question. */
export interface Standing extends Asked {
  /** Questions that count against the patience of its follower. */
  readonly tries: number
}

/** The differences between a program and a page that follow a purchase. */
export interface Habits {
  /** Whether the answer to a reconcile ends it, or only the answer to the request itself. */
  readonly endsByReconcile: boolean
  /** Somebody looks on: waits are short, the first answer is asked about at once, and a full house is left to them. */
  readonly isWatched: boolean
  /** Whether every question counts against the limits, or only those in a row that nobody answered. */
  readonly countsAnswers: boolean
  /** Counted questions after which it is given up: signed, it stays open; unsigned, it is refused. */
  readonly limits: { readonly signed: number; readonly unsigned: number }
}

/** A program waits as long as the altar works. A key of its caller's choice may name another's act: its reconcile ends nothing. */
export const unattended: Habits = {
  endsByReconcile: false,
  isWatched: false,
  countsAnswers: false,
  limits: { signed: 10, unsigned: 2 },
}

/** A page asks while its reader looks on, and then lets them ask. Its keys are random, so a reconcile is about its own act. */
export const watched: Habits = {
  endsByReconcile: true,
  isWatched: true,
  countsAnswers: true,
  limits: { signed: 39, unsigned: 0 },
}

type Unanswered = Omit<Extract<NextStep, { step: "retry" }>, "step">

export type Move =
  | Extract<NextStep, { step: "settle" | "sign" | "refuse" }>
  /** Ask as `next` says, after so many seconds; `because` where nobody said how it ended. */
  | { readonly step: "ask"; readonly next: Standing; readonly seconds: number; readonly because: string | undefined }
  /** Nobody said how it ended for too long, or the house is full (`isBusy`) and its reader is asked. */
  | ({ readonly step: "give-up"; readonly isBusy: boolean } & Unanswered)

/** The longest pause while somebody looks on, in seconds. */
const watchedWait = 10

const counted = (standing: Standing, { limits }: Habits, unanswered: Unanswered): Move | undefined =>
  standing.tries > (standing.isSigned ? limits.signed : limits.unsigned)
    ? { step: "give-up", isBusy: false, ...unanswered }
    : undefined

/** After a question that nobody answered, or whose answer cannot be read. */
export const unanswered = (standing: Standing, habits: Habits, { reason, refusal }: Unanswered): Move => {
  const { by, isSigned } = standing
  const next: Standing = { by: isSigned ? "reconcile" : "send", isSigned, tries: standing.tries + 1 }
  const given = counted(next, habits, { reason, refusal })
  if (given !== undefined) return given
  if (!habits.isWatched) {
    const seconds = waitOf(refusal?.retryAfter ?? Math.min(10, next.tries))
    return { step: "ask", next, seconds, because: reason }
  }
  if (by === "send" && refusal?.status === 503) return { step: "give-up", isBusy: true, reason, refusal }
  const seconds = by === "send" && refusal !== undefined ? 0 : Math.min(watchedWait, waitOf(refusal?.retryAfter ?? 2))
  return { step: "ask", next, seconds, because: reason }
}

/** The next move after the answer to a question that was asked as `standing` says. */
export const moveAfter = (standing: Standing, habits: Habits, outcome: Outcome): Move => {
  const { by, isSigned, tries } = standing
  const step = nextStep(outcome, standing)
  const isOver = step.step !== "pend" && step.step !== "retry"
  const next: NextStep = isOver && by === "reconcile" && !habits.endsByReconcile ? { step: "send" } : step
  switch (next.step) {
    case "settle":
    case "sign":
    case "refuse":
      return next
    case "retry":
      return unanswered(standing, habits, next)
    case "send":
    case "pend": {
      const isPending = next.step === "pend"
      const asked: Standing = {
        by: isPending ? "reconcile" : "send",
        isSigned,
        tries: habits.countsAnswers ? tries + 1 : isPending ? 0 : tries,
      }
      const isAtOnce = !isPending || (habits.isWatched && by === "send")
      const longest = habits.isWatched ? watchedWait : Infinity
      const seconds = isPending && !isAtOnce ? Math.min(longest, next.seconds) : 0
      const pending = { reason: "it is still settling", refusal: undefined }
      return counted(asked, habits, pending) ?? { step: "ask", next: asked, seconds, because: undefined }
    }
  }
}
