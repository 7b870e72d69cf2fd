/** SQL of exact sliding windows over an ascending list of the times of accepted requests. */
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import { literal, part } from "../platform/SqlPart.ts"
import type { Remaining, Policy, Window } from "./Policy.ts"

const longest = (policy: Policy) => Math.max(...policy.windows.map(({ seconds }) => seconds))

export const untouched = ({ windows }: Policy): ReadonlyArray<Remaining> =>
  windows.map((window) => ({ window, remaining: window.quota, resetSeconds: 0 }))

/** The counts of a statement, in the order of the policy's windows. */
export const Counts = Schema.Struct({
  used: Schema.Array(Schema.Int),
  /** The hit whose expiry makes room for one more. */
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

/** The counts after one of several requests taken together, when `later` others followed it. */
export const before = <C extends Counts>(counts: C, later: number): C =>
  later === 0 ? counts : { ...counts, used: counts.used.map((used) => used - later) }

export const most = (policy: Policy) => Math.min(...policy.windows.map(({ quota }) => quota))

const secondsUntil = (oldest: Date | null | undefined, { seconds }: Window, at: Date) =>
  oldest === null || oldest === undefined ? 0 : Math.max(0, seconds - (at.getTime() - oldest.getTime()) / 1000)

const length = ({ seconds }: Window) => `interval '${seconds} seconds'`

const gone = (hits: string, now: string, window: Window) => `width_bucket(${now} - ${length(window)}, ${hits})`
const array = (parts: ReadonlyArray<string>) => literal(`ARRAY[${parts.join(", ")}]`)

// `width_bucket` counts a `timestamptz[]` by binary search. The count is exact if `hits` is a column of a locked row
// and `now` is read under the lock.

/** The time to store, never before the newest hit even if clocks disagree. */
export const atInSql = (hits: string, now: string) => `greatest(${now}, ${hits}[cardinality(${hits})])`

/** Whether every window has room for `count`, at most `most`: the hit that has to leave has expired. */
export const isFree = (policy: Policy, hits: string, now: string, count = "1"): Statement.Fragment =>
  literal(
    policy.windows
      .map((window) => {
        const first = `${hits}[cardinality(${hits}) - ${window.quota} + ${count}]`
        return `coalesce(${first} <= ${now} - ${length(window)}, true)`
      })
      .join(" AND "),
  )

/** The hits that still count, and `count` more. */
export const appended = (policy: Policy, hits: string, now: string, count = "1"): Statement.Fragment => {
  const kept = `${hits}[1 + width_bucket(${now} - interval '${longest(policy)} seconds', ${hits}):]`
  return literal(`${kept} || array_fill(${atInSql(hits, now)}, ARRAY[${count}])`)
}

export const counts = (policy: Policy, hits: string, now: string): Statement.Fragment => {
  const used = policy.windows.map((window) => `cardinality(${hits}) - ${gone(hits, now, window)}`)
  const oldest = policy.windows.map(
    (window) => `${hits}[1 + greatest(${gone(hits, now, window)}, cardinality(${hits}) - ${window.quota})]`,
  )
  return part`${array(used)} AS used, ${array(oldest)} AS oldest, ${literal(now)} AS at`
}

/** `Counts` of a list that was just appended to. All of it counts in the longest window. */
export const countsAppended = (policy: Policy, hits: string): Statement.Fragment => {
  const at = `${hits}[cardinality(${hits})]`
  const left = policy.windows.map((window) => (window.seconds === longest(policy) ? "0" : gone(hits, at, window)))
  const used = left.map((some) => `cardinality(${hits}) - ${some}`)
  const oldest = left.map((some) => `${hits}[1 + ${some}]`)
  return part`${array(used)} AS used, ${array(oldest)} AS oldest, ${literal(at)} AS at`
}
