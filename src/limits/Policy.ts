/** Limits as data: what is counted, how many, over how long; and what is left of each. */
import { Context, Data, Metric } from "effect"

/** At most `quota` accepted requests in any interval of `seconds`. */
export interface Window {
  /** Name in the `RateLimit` headers, `[a-z0-9-]+`. */
  readonly name: string
  readonly quota: number
  /** At most a day: state is forgotten after 24 idle hours. */
  readonly seconds: number
  /** What a refused caller is told, as in `20 sends per minute from one address`. */
  readonly says: string
}

/** Windows that are taken together: a request counts in all of them or in none. */
export interface Policy {
  readonly name: string
  readonly windows: readonly [Window, ...ReadonlyArray<Window>]
  /** The bits of the IPv6 networks that it counts; addresses where absent. */
  readonly network?: 56 | 48
  /** The policies of the wider networks of an IPv6 address: a /56, then a /48. */
  readonly wider?: readonly [Policy, Policy]
}

export interface Remaining {
  readonly window: Window
  readonly remaining: number
  /** Seconds until a request more is left than now. */
  readonly resetSeconds: number
}

/** A refusal; it consumed nothing. `retryAfter` whole seconds later the same request is accepted if nobody else's is. */
export class Exceeded extends Data.TaggedError("Exceeded")<{
  readonly window: Window
  readonly retryAfter: number
  readonly remaining: ReadonlyArray<Remaining>
}> {}

const refusals = Metric.counter("altar.limiter.refusals", {
  description: "Requests that a limit refused, by its policy.",
  incremental: true,
})

/** The refusal by the exhausted window that takes longest to recover; of `fallback` when it has recovered meanwhile. */
export const exceeded = (remaining: ReadonlyArray<Remaining>, fallback: Policy): Exceeded => {
  const [longest] = remaining
    .filter(({ remaining }) => remaining === 0)
    .sort((one, other) => other.resetSeconds - one.resetSeconds)
  refusals.updateUnsafe(1, Context.make(Metric.CurrentMetricAttributes, { policy: fallback.name }))
  return new Exceeded({
    window: longest?.window ?? fallback.windows[0],
    retryAfter: Math.max(1, Math.ceil(longest?.resetSeconds ?? 0)),
    remaining,
  })
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
export const headersOf = (remaining: ReadonlyArray<Remaining>) => ({
  ratelimit: remaining
    .map(({ remaining, resetSeconds, window }) => `"${window.name}";r=${remaining};t=${Math.ceil(resetSeconds)}`)
    .join(", "),
  "ratelimit-policy": remaining
    .map(({ window }) => `"${window.name}";q=${window.quota};w=${window.seconds}`)
    .join(", "),
})
