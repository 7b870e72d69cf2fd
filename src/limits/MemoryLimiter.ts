/** Limits whose state is in this process alone, for a single server. */
import { Clock, Effect, Layer, Schedule } from "effect"
import { Statement } from "effect/sql"
import { named } from "../platform/Sql.ts"
import { exceeded, type Policy } from "./Policy.ts"
import { type Gate, idle, keyOf, RateLimiter, rowsOf, sweepEvery } from "./RateLimiter.ts"
import * as Windows from "./Windows.ts"

export const layer = Layer.effect(
  RateLimiter,
  Effect.gen(function* () {
    const hits = new Map<string, ReadonlyArray<number>>()
    const hitsOf = (row: string) => hits.get(row) ?? []

    const attempt = Effect.fnUntraced(function* (policy: Policy, key: string, count = 1) {
      const rows = rowsOf(policy, key)
      const now = yield* Clock.currentTimeMillis
      const at = Math.max(now, ...rows.map(([, row]) => hitsOf(row).at(-1) ?? 0))
      const after = rows.map(([one, row]) => [row, Windows.take(one, hitsOf(row), at, count)] as const)
      const isTaken = after.every(([, list]) => list !== undefined)
      if (isTaken) for (const [row, list] of after) hits.set(row, list ?? [])
      return {
        taken: isTaken,
        at,
        own: Windows.remaining(policy, hitsOf(rows[0]?.[1] ?? ""), at),
        remaining: rows.flatMap(([one, row]) => Windows.remaining(one, hitsOf(row), at)),
      }
    })

    const take = Effect.fn("RateLimiter.take")(function* (policy: Policy, key: string) {
      const { own, remaining, taken } = yield* attempt(policy, key)
      return taken ? own : yield* exceeded(remaining, policy)
    })

    const look = Effect.fn("RateLimiter.look")(function* (policy: Policy, key: string) {
      const now = yield* Clock.currentTimeMillis
      return rowsOf(policy, key).flatMap(([one, row]) => Windows.remaining(one, hitsOf(row), now))
    })

    const gate = (policy: Policy, source: Statement.Fragment): Gate => ({
      slot: Statement.fragment([
        Statement.literal("slot AS (SELECT taken.* FROM json_to_recordset("),
        ...named("limit_taken").segments,
        Statement.literal(
          "::json) AS taken(key text, used int[], oldest timestamptz[], at timestamptz) WHERE key IN (SELECT key FROM ",
        ),
        ...source.segments,
        Statement.literal("))"),
      ]),
      keyOf: (key) => keyOf(policy, key),
      enter: Effect.fnUntraced(function* (keys) {
        const taken = new Map<string, number>()
        const rows: Array<Windows.Counts & { readonly key: string }> = []
        for (const [key, { length }] of Map.groupBy(keys, (key) => key)) {
          const { at, own, taken: isTaken } = yield* attempt(policy, key, length)
          if (!isTaken) continue
          taken.set(key, at)
          const used = own.map(({ remaining, window }) => window.quota - remaining)
          const oldest = own.map(
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
              for (const [, row] of rowsOf(policy, key)) {
                const kept = [...hitsOf(row)]
                kept.splice(kept.lastIndexOf(at), 1)
                hits.set(row, kept)
              }
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
