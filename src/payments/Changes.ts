/** What is said of an attempt whenever its state changes: a line of the log and a count. Neither can fail or asks the network. */
import { Clock, Effect, Metric } from "effect"
import type { Attempt } from "./ledger/Attempt.ts"

export type State = "none" | Attempt["state"] | "final" | "moved" | "lost"

export interface Change {
  readonly id: string
  readonly act: string
  /** RFC 3339, of the intent. */
  readonly acceptedAt?: string | undefined
  readonly from: State
  readonly to: State
  /** What decided it, in a word. */
  readonly evidence: string
  /** Hash of the transaction, or the processor's intent. */
  readonly transaction?: string | null | undefined
}

const transitions = Metric.counter("altar.payment.transitions", {
  description: "Changes of attempts to pay, by act and states.",
  incremental: true,
})

/** Seconds from the intent on disk to its end. */
const lifetimes = Metric.histogram("altar.payment.duration", {
  description: "From the intent on disk to the end of the attempt, by how it ended.",
  attributes: { unit: "s" },
  boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600],
})

/** Acts and states are few: each pair is named once. */
const series = new Map<string, typeof transitions>()
const seriesOf = (act: string, from: State, to: State) => {
  const name = `${act} ${from} ${to}`
  const known = series.get(name) ?? Metric.withAttributes(transitions, { act, from, to })
  series.set(name, known)
  return known
}

const lifetimesOf = new Map<State, typeof lifetimes>()
const lifetimeOf = (state: State) => {
  const known = lifetimesOf.get(state) ?? Metric.withAttributes(lifetimes, { state })
  lifetimesOf.set(state, known)
  return known
}

export const changed = ({ acceptedAt, act, evidence, from, id, to, transaction }: Change): Effect.Effect<void> =>
  Effect.gen(function* () {
    const ageMs =
      acceptedAt === undefined ? undefined : (yield* Clock.currentTimeMillis) - new Date(acceptedAt).getTime()
    yield* Metric.update(seriesOf(act, from, to), 1)
    if (from === "pending" && ageMs !== undefined) yield* Metric.update(lifetimeOf(to), ageMs / 1000)
    const line = { attempt: id, act, from, to, evidence, transaction: transaction ?? undefined, ageMs }
    yield* Effect.logInfo("attempt", line)
  })
