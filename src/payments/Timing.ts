/** How long those take that money waits for: settlement, and the search for evidence. */
import { Clock, Effect, Exit, Metric } from "effect"

const boundaries = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const histogram = (id: string, description: string) =>
  Metric.histogram(id, { description, attributes: { unit: "s" }, boundaries })

const settlements = histogram(
  "altar.payment.settlement.duration",
  "Until the relayer or the facilitator answered what it was handed, by what it said.",
)
const inquiries = histogram(
  "altar.payment.evidence.duration",
  "Until the evidence of an attempt was found or not, by what was found; `error` where nobody answered.",
)

const timed = (of: typeof settlements) => {
  /** Outcomes are few: each is named once. */
  const series = new Map<string, typeof settlements>()
  const seriesOf = (outcome: string) => {
    const known = series.get(outcome) ?? Metric.withAttributes(of, { outcome })
    series.set(outcome, known)
    return known
  }
  return <A extends { readonly _tag: string }, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (began) =>
      Effect.onExit(effect, (exit) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Metric.update(seriesOf(Exit.isSuccess(exit) ? exit.value._tag.toLowerCase() : "error"), (now - began) / 1000),
        ),
      ),
    )
}

export const settlement = timed(settlements)
export const inquiry = timed(inquiries)
