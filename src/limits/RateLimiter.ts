/** Accepts a request only while its policy has room, exactly, on however many servers; a refusal consumes nothing. */
import { Context, type Effect } from "effect"
import type { Statement } from "effect/sql"
import type { Exceeded, Remaining, Policy } from "./Policy.ts"

/** Decisions that a larger statement carries, so that limit and work cost one round trip together. */
export interface Gate {
  /**
   * Members of a `WITH`, the last of them `slot`: takes `n` requests for each row of its source, a relation of `n` and
   * distinct `key`s made by `keyOf`, all of them or none. `slot` has a row of `key` and `Counts` after the last where
   * they were accepted.
   */
  readonly slot: Statement.Fragment
  readonly keyOf: (key: string) => string
  /** One of `keys` for each request; those that are the same stand or fall together. */
  readonly enter: (keys: ReadonlyArray<string>) => Effect.Effect<Entry>
}

/** Requests at a gate. */
export interface Entry {
  /** The named parameters of the gate's query. */
  readonly values: Readonly<Record<string, unknown>>
  /** To be run for each request for which the statement was not run, or took nothing for a reason of its own. */
  readonly release: (key: string) => Effect.Effect<void>
}

/** Milliseconds of idleness after which state may go. */
export const idle = 86_400_000
export const sweepEvery = "5 minutes"

/** Each policy of a request with the key of its row: that of the address, and those of its wider networks. */
export const rowsOf = (policy: Policy, key: string): ReadonlyArray<readonly [Policy, string]> => {
  const [address = "", ...networks] = key.split(".")
  const wider = networks.length === 0 ? [] : (policy.wider ?? [])
  return [
    [policy, `${policy.name}:${address}`],
    ...wider.map((one, index) => [one, `${one.name}:${networks[index] ?? ""}`] as const),
  ]
}

/** The keys of all rows of a request, separated by dots. */
export const keyOf = (policy: Policy, key: string) =>
  rowsOf(policy, key)
    .map(([, row]) => row)
    .join(".")

export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** Takes one request of `key`, a pseudonym and never an address; tells what is left. */
    take(policy: Policy, key: string): Effect.Effect<ReadonlyArray<Remaining>, Exceeded>
    /** What is left, without taking. */
    look(policy: Policy, key: string): Effect.Effect<ReadonlyArray<Remaining>>
    /** The same as `take` for a statement of the caller; `source` is what follows its `FROM`. */
    gate(policy: Policy, source: Statement.Fragment): Gate
    /** Forgets what has been idle for 24 hours; returns how many keys. Runs by itself too. */
    readonly sweep: Effect.Effect<number>
  }
>()("spirit-altar/limits/RateLimiter") {}
