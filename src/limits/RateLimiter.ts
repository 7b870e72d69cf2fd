/** Accepts a request only while its policy has room, exactly, on however many servers; a refusal consumes nothing. */
import { Context, type Effect } from "effect"
import type { Statement } from "effect/sql"
import type { Exceeded, Remaining, Policy } from "./Policy.ts"

/** Decisions that a larger statement carries, so that limit and work cost one round trip together. */
export interface Gate {
  /**
   * A query that takes `n` requests for each row of its source, a relation of `n` and distinct `key`s made by `keyOf`,
   * all of them or none, and yields a row of `key` and `Counts` after the last where they were accepted. Stands in a
   * `WITH`, once.
   */
  readonly query: Statement.Fragment
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

/** State is kept under the name of its policy. */
export const keyOf = (policy: Policy, key: string) => `${policy.name}:${key}`

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
