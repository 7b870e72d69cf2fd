/** The counts of the servers of this process. */
import { Effect, Metric } from "effect"

/** The number of answers by route and status. Each method has a series of its own. */
export const answersCounted = Effect.map(Metric.snapshot, (metrics) => {
  const sums = new Map<string, number>()
  for (const { attributes, id, state } of metrics) {
    if (id !== "http.server.request.duration" || !("count" in state)) continue
    const name = `${attributes?.["http.route"]} ${attributes?.["http.response.status_code"]}`
    sums.set(name, (sums.get(name) ?? 0) + Number(state.count))
  }
  return sums
})
