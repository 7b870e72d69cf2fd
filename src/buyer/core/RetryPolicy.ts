/** The loop of a purchase for library, command and page; each answer decides the next move. */
import { type RequestState, nextStep, type NextStep, type Outcome, waitOf } from "./Outcome.ts"

/** The state of a purchase before its next request. */
export interface PurchaseState extends RequestState {
  /** Requests that count against the limits. */
  readonly tries: number
}

/** The differences between a program and a page that follow a purchase. */
export interface RetryPolicy {
  /** Whether the answer to a reconcile ends the purchase, or only the answer to the request itself. */
  readonly endsByReconcile: boolean
  /** Whether a reader is watching: waits are short, the first inquiry is immediate, the reader handles a rate limit. */
  readonly isWatched: boolean
  /** Whether every request counts against the limits, or only consecutive ones without an answer. */
  readonly countsAnswers: boolean
  /** Counted requests until the loop gives up: a signed purchase stays open, an unsigned one is refused. */
  readonly limits: { readonly signed: number; readonly unsigned: number }
}

/** A program waits as long as the altar works. Its key may belong to another act, so a reconcile ends nothing. */
export const unattended: RetryPolicy = {
  endsByReconcile: false,
  isWatched: false,
  countsAnswers: false,
  limits: { signed: 10, unsigned: 2 },
}

/** A page asks only while it is watched. Its keys are random, so a reconcile is about its own act. */
export const watched: RetryPolicy = {
  endsByReconcile: true,
  isWatched: true,
  countsAnswers: true,
  limits: { signed: 39, unsigned: 0 },
}

type Unanswered = Omit<Extract<NextStep, { step: "retry" }>, "step">

export type Move =
  | Extract<NextStep, { step: "settle" | "sign" | "refuse" }>
  /** Ask as `next` says, after this many seconds; `because` is set when the outcome is unknown. */
  | {
      readonly step: "ask"
      readonly next: PurchaseState
      readonly seconds: number
      readonly because: string | undefined
    }
  /** Without an outcome for too long, or rate limited (`isBusy`): the reader decides. */
  | ({ readonly step: "give-up"; readonly isBusy: boolean } & Unanswered)

/** Maximum wait in seconds while a reader is watching. */
const watchedWait = 10

const counted = (standing: PurchaseState, { limits }: RetryPolicy, unanswered: Unanswered): Move | undefined =>
  standing.tries > (standing.isSigned ? limits.signed : limits.unsigned)
    ? { step: "give-up", isBusy: false, ...unanswered }
    : undefined

/** The move after a missing or unreadable answer. */
export const moveWithoutAnswer = (
  standing: PurchaseState,
  habits: RetryPolicy,
  { reason, refusal }: Unanswered,
): Move => {
  const { by, isSigned } = standing
  const next: PurchaseState = { by: isSigned ? "reconcile" : "send", isSigned, tries: standing.tries + 1 }
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

/** The next move after the answer to the request that `standing` describes. */
export const moveAfter = (standing: PurchaseState, habits: RetryPolicy, outcome: Outcome): Move => {
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
      return moveWithoutAnswer(standing, habits, next)
    case "send":
    case "pend": {
      const isPending = next.step === "pend"
      const asked: PurchaseState = {
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
