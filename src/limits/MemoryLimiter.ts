/** Limits whose state is in this process alone, for a single server. */
import { Clock, Effect, Layer, Schedule } from "effect"
import { Statement } from "effect/sql"
import { named } from "../platform/Sql.ts"
import { exceeded, type Policy } from "./Policy.ts"
import { type Gate, idle, keyOf, RateLimiter, sweepEvery } from "./RateLimiter.ts"
import * as Windows from "./Windows.ts"

export const layer = Layer.effect(
  RateLimiter,
  Effect.gen(function* () {
    const hits = new Map<string, ReadonlyArray<number>>()
    const hitsOf = (policy: Policy, key: string) => hits.get(keyOf(policy, key)) ?? []

    const attempt = Effect.fnUntraced(function* (policy: Policy, key: string, count = 1) {
      const before = hitsOf(policy, key)
      const at = Math.max(yield* Clock.currentTimeMillis, before.at(-1) ?? 0)
      const after = Windows.take(policy, before, at, count)
      if (after !== undefined) hits.set(keyOf(policy, key), after)
      return { taken: after !== undefined, at, remaining: Windows.remaining(policy, after ?? before, at) }
    })

    const take = Effect.fn("RateLimiter.take")(function* (policy: Policy, key: string) {
      const { remaining, taken } = yield* attempt(policy, key)
      return taken ? remaining : yield* exceeded(remaining, policy)
    })

    const look = Effect.fn("RateLimiter.look")(function* (policy: Policy, key: string) {
      return Windows.remaining(policy, hitsOf(policy, key), yield* Clock.currentTimeMillis)
    })

    const gate = (policy: Policy, source: Statement.Fragment): Gate => ({
      query: Statement.fragment([
        Statement.literal("SELECT taken.* FROM json_to_recordset("),
        ...named("limit_taken").segments,
        Statement.literal(
          "::json) AS taken(key text, used int[], oldest timestamptz[], at timestamptz) WHERE key IN (SELECT key FROM ",
        ),
        ...source.segments,
        Statement.literal(")"),
      ]),
      keyOf: (key) => keyOf(policy, key),
      enter: Effect.fnUntraced(function* (keys) {
        const taken = new Map<string, number>()
        const rows: Array<Windows.Counts & { readonly key: string }> = []
        for (const [key, { length }] of Map.groupBy(keys, (key) => key)) {
          const { at, remaining, taken: isTaken } = yield* attempt(policy, key, length)
          if (!isTaken) continue
          taken.set(key, at)
          const used = remaining.map(({ remaining, window }) => window.quota - remaining)
          const oldest = remaining.map(
            ({ resetSeconds, window }) => new Date(at + Math.round((resetSeconds - window.seconds) * 1000)),
          )
          rows.push({ key: keyOf(policy, key), used, oldest, at: new Date(at) })
        }
        return {
          values: { limit_taken: JSON.stringify(rows) },
          release: (key) =>
            Effect.sync(() => {
              const at = taken.get(key)
              if (at === undefined) return
              const kept = [...hitsOf(policy, key)]
              kept.splice(kept.lastIndexOf(at), 1)
              hits.set(keyOf(policy, key), kept)
            }),
        }
      }),
    })

    const sweep = Effect.map(Clock.currentTimeMillis, (now) => {
      const gone = [...hits].filter(([, list]) => (list.at(-1) ?? 0) <= now - idle)
      for (const [key] of gone) hits.delete(key)
      return gone.length
    })

    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEvery)))
    return RateLimiter.of({ take, look, gate, sweep })
  }),
)
