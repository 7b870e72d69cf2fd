/** Exact sliding windows over an ascending list of the times at which requests were accepted; in memory and in SQL the same. */
import { Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Remaining, Policy, Window } from "./Policy.ts"

const longest = (policy: Policy) => Math.max(...policy.windows.map(({ seconds }) => seconds))

/** How many of the ascending `hits` have left a window that ends at `at`. */
const expired = (hits: ReadonlyArray<number>, at: number, window: Window) => {
  const kept = hits.findIndex((hit) => hit > at - window.seconds * 1000)
  return kept === -1 ? hits.length : kept
}

const remainingIn = (hits: ReadonlyArray<number>, at: number, window: Window): Remaining => {
  const gone = expired(hits, at, window)
  const next = hits[Math.max(gone, hits.length - window.quota)]
  return {
    window,
    remaining: Math.max(0, window.quota - (hits.length - gone)),
    resetSeconds: next === undefined ? 0 : Math.max(0, next + window.seconds * 1000 - at) / 1000,
  }
}

/** What is left of each window, `hits` in milliseconds. */
export const remaining = (policy: Policy, hits: ReadonlyArray<number>, at: number): ReadonlyArray<Remaining> =>
  policy.windows.map((window) => remainingIn(hits, at, window))

/** The hits with `count` more, or nothing when a window has no room for all of them. */
export const take = (
  policy: Policy,
  hits: ReadonlyArray<number>,
  at: number,
  count = 1,
): ReadonlyArray<number> | undefined =>
  remaining(policy, hits, at).some(({ remaining }) => remaining < count)
    ? undefined
    : [...hits.filter((hit) => hit > at - longest(policy) * 1000), ...Array.from({ length: count }, () => at)]

/** What a statement tells of the windows, in the order of the policy. */
export const Counts = Schema.Struct({
  used: Schema.Array(Schema.Int),
  /** The hit whose end makes room for one more. */
  oldest: Schema.Array(Schema.NullOr(Schema.Date)),
  at: Schema.Date,
})
export type Counts = typeof Counts.Type

export const remainingOf = (policy: Policy, { at, oldest, used }: Counts): ReadonlyArray<Remaining> =>
  policy.windows.map((window, index) => ({
    window,
    remaining: Math.max(0, window.quota - (used[index] ?? 0)),
    resetSeconds: secondsUntil(oldest[index], window, at),
  }))

/** Of several that were taken together, what was left after one that `later` others followed. */
export const before = <C extends Counts>(counts: C, later: number): C =>
  later === 0 ? counts : { ...counts, used: counts.used.map((used) => used - later) }

/** The most that can be taken together. */
export const most = (policy: Policy) => Math.min(...policy.windows.map(({ quota }) => quota))

const secondsUntil = (oldest: Date | null | undefined, { seconds }: Window, at: Date) =>
  oldest === null || oldest === undefined ? 0 : Math.max(0, seconds - (at.getTime() - oldest.getTime()) / 1000)

const length = ({ seconds }: Window) => `interval '${seconds} seconds'`

/**
 * The same as SQL over a `timestamptz[]`, ascending, so that `width_bucket` counts by binary search. It is exact as
 * long as `hits` is a column of a locked row and `now` is read once the lock is held.
 */
export const inSql = (sql: SqlClient.SqlClient) => {
  const gone = (hits: string, now: string, window: Window) => `width_bucket(${now} - ${length(window)}, ${hits})`
  const isLongest = (policy: Policy, { seconds }: Window) => seconds === longest(policy)
  const array = (parts: ReadonlyArray<string>) => sql.literal(`ARRAY[${parts.join(", ")}]`)
  return {
    /** The time to store: never before the newest hit, whatever the clocks say. */
    at: (hits: string, now: string) => `greatest(${now}, ${hits}[cardinality(${hits})])`,
    /** Whether every window has room for `count`, at most `most`: the hit that would have to leave has left. */
    isFree: (policy: Policy, hits: string, now: string, count = "1"): Statement.Fragment =>
      sql.literal(
        policy.windows
          .map((window) => {
            const first = `${hits}[cardinality(${hits}) - ${window.quota} + ${count}]`
            return `coalesce(${first} <= ${now} - ${length(window)}, true)`
          })
          .join(" AND "),
      ),
    /** The hits that still count, and `count` more. */
    appended: (policy: Policy, hits: string, now: string, count = "1"): Statement.Fragment => {
      const kept = `${hits}[1 + width_bucket(${now} - interval '${longest(policy)} seconds', ${hits}):]`
      return sql.literal(`${kept} || array_fill(greatest(${now}, ${hits}[cardinality(${hits})]), ARRAY[${count}])`)
    },
    /** `Counts` of any list. */
    counts: (policy: Policy, hits: string, now: string): Statement.Fragment => {
      const used = policy.windows.map((window) => `cardinality(${hits}) - ${gone(hits, now, window)}`)
      const oldest = policy.windows.map(
        (window) => `${hits}[1 + greatest(${gone(hits, now, window)}, cardinality(${hits}) - ${window.quota})]`,
      )
      return sql`${array(used)} AS used, ${array(oldest)} AS oldest, ${sql.literal(now)} AS at`
    },
    /** `Counts` of a list that has just been appended to: all of it counts in the longest window. */
    countsAppended: (policy: Policy, hits: string): Statement.Fragment => {
      const at = `${hits}[cardinality(${hits})]`
      const used = policy.windows.map((window) =>
        isLongest(policy, window) ? `cardinality(${hits})` : `cardinality(${hits}) - ${gone(hits, at, window)}`,
      )
      const oldest = policy.windows.map((window) =>
        isLongest(policy, window) ? `${hits}[1]` : `${hits}[1 + ${gone(hits, at, window)}]`,
      )
      return sql`${array(used)} AS used, ${array(oldest)} AS oldest, ${sql.literal(at)} AS at`
    },
  }
}
