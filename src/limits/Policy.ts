/** Limits as data: counts, quotas and windows, and the remaining quota of each. */
import { Context, Data, Metric } from "effect"

/** At most `quota` accepted requests in any interval of `seconds`. */
export interface Window {
  /** Name in the `RateLimit` headers, `[a-z0-9-]+`. */
  readonly name: string
  readonly quota: number
  /** At most a day: state is removed after 24 idle hours. */
  readonly seconds: number
  /** The limit in words for a refused caller, such as `20 sends per minute from one address`. */
  readonly says: string
}

/** Windows that are taken together: a request counts in all of them or in none. */
export interface Policy {
  readonly name: string
  readonly windows: readonly [Window, ...ReadonlyArray<Window>]
  /** Prefix length of the IPv6 networks it counts; addresses if absent. */
  readonly network?: 56 | 48
  /** The policies of an address's wider IPv6 networks: a /56, then a /48. */
  readonly wider?: readonly [Policy, Policy]
}

export interface Remaining {
  readonly window: Window
  readonly remaining: number
  /** Seconds until one more request is available. */
  readonly resetSeconds: number
}

/** A refusal, which consumed nothing. Without other requests, this one is accepted `retryAfter` whole seconds later. */
export class Exceeded extends Data.TaggedError("Exceeded")<{
  readonly window: Window
  readonly retryAfter: number
  readonly remaining: ReadonlyArray<Remaining>
}> {}

const refusals = Metric.counter("altar.limiter.refusals", {
  description: "Requests over a limit, by policy.",
  incremental: true,
})

/** The refusal by the exhausted window that recovers last; by `fallback` if that window has recovered since. */
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
