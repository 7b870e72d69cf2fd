/** Limits as data: counts and windows, and the remaining quota of each. */
import { Context, Data, Effect, Metric, Schema } from "effect"

/** At most `quota` accepted requests in any interval of `seconds`. */
export interface Window {
  /** Name in the `RateLimit` headers and of its rows, `[a-z0-9-]+`. */
  readonly name: string
  readonly quota: number
  /** At most a day: state is removed after 24 idle hours. */
  readonly seconds: number
  /** The limit in words for a refused caller, such as `20 sends per minute from one address`. */
  readonly says: string
  /** IPv6 prefix length to count by; by address if absent. IPv4 addresses skip it. */
  readonly network?: 56 | 48
}

/**
 * Windows that are taken together: a request counts in all of them or in none. The widest network comes last:
 * locks are taken from last to first, so that all requests lock in one order.
 */
export type Limit = readonly [Window, ...ReadonlyArray<Window>]

/** Limits what is stored by network: a /56 is usually one customer, a /48 one site or many customers. */
export const ofNetworks = (name: string, quota: number, seconds: number, what: string): ReadonlyArray<Window> =>
  (
    [
      [56, 4 * quota],
      [48, 20 * quota],
    ] as const
  ).map(([network, quota]) => ({
    name: `${name}-${network}`,
    quota,
    seconds,
    says: `${quota} ${what} from one /${network} network`,
    network,
  }))

export interface Remaining {
  readonly window: Window
  readonly remaining: number
  /** Seconds until one more request is available. */
  readonly resetSeconds: number
}

/** A refusal, which consumed nothing. `retryAfter`: whole seconds until a retry succeeds, if no other request comes first. */
export class Exceeded extends Data.TaggedError("Exceeded")<{
  readonly window: Window
  readonly retryAfter: number
  readonly remaining: ReadonlyArray<Remaining>
}> {}

/** Multiplies the quotas of all limits: a sandbox loosens them on request, for a run of contract tests. */
export const LimitFactor = Context.Reference<number>("spirit-altar/limits/LimitFactor", { defaultValue: () => 1 })

const scaled = ([first, ...others]: Limit, factor: number): Limit => {
  const wider = (window: Window): Window => {
    const quota = window.quota * factor
    return { ...window, quota, says: window.says.replace(/^[0-9]+/u, String(quota)) }
  }
  return [wider(first), ...others.map(wider)]
}

/**
 * The keys of a caller's windows as an array of PostgreSQL, NULL for a window whose network the caller lacks. `caller` is a pseudonym of
 * `ClientAddress`, which needs no quotes.
 */
const keysOf = (limit: Limit, caller: string): string => {
  const [address = "", customer, site] = caller.split(".")
  const keys = limit.map(({ name, network }) => {
    const place = network === 48 ? site : network === 56 ? customer : address
    return place === undefined ? "NULL" : `${name}:${place}`
  })
  return `{${keys.join(",")}}`
}

/** The columns of `rate_limits_take`, in the order of the windows; null where nothing was asked. */
export const Counts = Schema.Struct({
  taken: Schema.NullOr(Schema.Boolean),
  used: Schema.NullOr(Schema.Array(Schema.NullOr(Schema.Int))),
  oldest: Schema.NullOr(Schema.Array(Schema.NullOr(Schema.Date))),
  at: Schema.NullOr(Schema.Date),
})
export type Counts = typeof Counts.Type

const remainingOf = (limit: Limit, { at, oldest, used }: Counts): ReadonlyArray<Remaining> =>
  limit.flatMap((window, index) => {
    const count = used?.[index] ?? null
    if (count === null || at === null) return []
    const first = oldest?.[index] ?? at
    const resetSeconds = count === 0 ? 0 : Math.max(0, window.seconds - (at.getTime() - first.getTime()) / 1000)
    return [{ window, remaining: Math.max(0, window.quota - count), resetSeconds }]
  })

const refusals = Metric.counter("altar.limiter.refusals.total", {
  description: "Requests over a limit, by policy.",
  incremental: true,
})

/** The refusal by the exhausted window that recovers last. */
const exceeded = (limit: Limit, counts: Counts): Exceeded => {
  const remaining = remainingOf(limit, counts)
  const [longest] = remaining
    .filter(({ remaining }) => remaining === 0)
    .sort((left, right) => right.resetSeconds - left.resetSeconds)
  const window = longest?.window ?? limit[0]
  refusals.updateUnsafe(1, Context.make(Metric.CurrentMetricAttributes, { policy: window.name }))
  return new Exceeded({ window, retryAfter: Math.max(1, Math.ceil(longest?.resetSeconds ?? 0)), remaining })
}

/** The arguments of `rate_limits_take` for a limit, and the meaning of its result. */
export const counting = (limit: Limit) =>
  Effect.map(LimitFactor, (factor) => {
    const own = scaled(limit, factor)
    return {
      quotas: own.map(({ quota }) => quota),
      seconds: own.map(({ seconds }) => seconds),
      keysOf: (caller: string) => keysOf(own, caller),
      /** The remaining quota of an accepted request. */
      admit: (counts: Counts) =>
        Effect.suspend(() =>
          counts.taken === true ? Effect.succeed(remainingOf(own, counts)) : Effect.fail(exceeded(own, counts)),
        ),
    }
  })

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
export const headersOf = (remaining: ReadonlyArray<Remaining>) => ({
  ratelimit: remaining
    .map(({ remaining, resetSeconds, window }) => `"${window.name}";r=${remaining};t=${Math.ceil(resetSeconds)}`)
    .join(", "),
  "ratelimit-policy": remaining
    .map(({ window }) => `"${window.name}";q=${window.quota};w=${window.seconds}`)
    .join(", "),
})
