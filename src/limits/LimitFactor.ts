/** Multiplies all limits of a sandbox on request, for a run of contract tests. */
import { Context, Effect, Layer } from "effect"
import type { Policy, Window } from "./Policy.ts"
import { RateLimiter } from "./RateLimiter.ts"

export const LimitFactor = Context.Reference<number>("spirit-altar/limits/LimitFactor", { defaultValue: () => 1 })

const wider = (factor: number) => (window: Window) => {
  const quota = window.quota * factor
  return { ...window, quota, says: window.says.replace(/^[0-9]+/u, String(quota)) }
}

/** Returns the same object per policy, since limiters cache by it. */
export const scaledBy = (factor: number) => {
  const known = new WeakMap<Policy, Policy>()
  return (policy: Policy): Policy => {
    if (factor === 1) return policy
    const [first, ...others] = policy.windows
    const made = known.get(policy) ?? {
      ...policy,
      windows: [wider(factor)(first), ...others.map(wider(factor))] as const,
    }
    known.set(policy, made)
    return made
  }
}

export const layer = Layer.effect(
  RateLimiter,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter
    const loose = scaledBy(yield* LimitFactor)
    return RateLimiter.of({
      ...limiter,
      take: (policy, key) => limiter.take(loose(policy), key),
      peek: (policy, key) => limiter.peek(loose(policy), key),
      gate: (policy, source) => limiter.gate(loose(policy), source),
    })
  }),
)
