/** Reports each state change of an attempt as a log line and a count. Neither fails or uses the network. */
import { Clock, Effect, Exit, Metric } from "effect"
import { seriesOf } from "../platform/Series.ts"
import type { Attempt } from "./store/Attempt.ts"
import { log } from "../platform/LogMessages.ts"

export type State = "none" | Attempt["state"] | "final" | "moved" | "lost"

export interface Change {
  readonly id: string
  readonly act: string
  readonly acceptedAt?: string | undefined
  readonly from: State
  readonly to: State
  readonly evidence: string
  readonly transaction?: string | null | undefined
}

const transitions = seriesOf(
  Metric.counter("altar.payment.transitions.total", {
    description: "State changes of payment attempts, by act and states.",
    incremental: true,
  }),
)

const lifetimes = seriesOf(
  Metric.histogram("altar.payment.duration.seconds", {
    description: "Duration from the intent on disk to the end of the attempt, by final state.",
    attributes: { unit: "s" },
    boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600],
  }),
)

export const reportChange = ({ acceptedAt, act, evidence, from, id, to, transaction }: Change): Effect.Effect<void> =>
  Effect.gen(function* () {
    const ageMs =
      acceptedAt === undefined ? undefined : (yield* Clock.currentTimeMillis) - new Date(acceptedAt).getTime()
    yield* Metric.update(transitions({ act, from, to }), 1)
    if (from === "pending" && ageMs !== undefined) yield* Metric.update(lifetimes({ state: to }), ageMs / 1000)
    const line = { attempt: id, act, from, to, evidence, transaction: transaction ?? undefined, ageMs }
    yield* log("attempt", line)
  })

const boundaries = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const timed = (id: string, description: string) => {
  const durations = seriesOf(Metric.histogram(id, { description, attributes: { unit: "s" }, boundaries }))
  return <A extends { readonly _tag: string }, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (began) =>
      Effect.onExit(effect, (exit) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const outcome = Exit.isSuccess(exit) ? exit.value._tag.toLowerCase() : "error"
          return Metric.update(durations({ outcome }), (now - began) / 1000)
        }),
      ),
    )
}

export const settlementTimed = timed(
  "altar.payment.settlement.duration.seconds",
  "Duration until relayer or facilitator answered a submission, by answer.",
)
export const inquiryTimed = timed(
  "altar.payment.evidence.duration.seconds",
  "Duration of inquiries about attempts, by finding; `error` without an answer.",
)
