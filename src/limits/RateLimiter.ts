/** Accepts a request only while its limit has room, exactly, on any number of servers. A refusal consumes nothing. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { rowsOf } from "../platform/Rows.ts"
import { inBatches, retryConflicts } from "../platform/Sql.ts"
import { counting, Counts, type Exceeded, type Limit, type Remaining } from "./Limit.ts"

const sweepEvery = "5 minutes"
const batch = 1000

const countsOf = rowsOf("rate_limits", Counts)

/**
 * Limiter state in PostgreSQL, shared by all servers, by the database's clock, since servers' clocks differ. Statements
 * of a room call `rate_limits_take` themselves, so that limit and work take one round trip.
 */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Takes one request of a caller, a pseudonym and never an address, in all windows of a limit. Returns what remains;
     * fails with `Exceeded` and the exact wait, and then takes nothing.
     */
    readonly take: (
      limit: Limit,
      caller: string,
    ) => Effect.Effect<ReadonlyArray<Remaining>, Exceeded | SqlError.SqlError>
    /** Returns a taken request to its windows, as if it had not been made. */
    readonly giveBack: (limit: Limit, caller: string) => Effect.Effect<void, SqlError.SqlError>
    /** Removes the state of callers idle for 24 hours, and returns the number of keys. Also runs every five minutes. */
    readonly sweep: Effect.Effect<number, SqlError.SqlError>
  }
>()("spirit-altar/limits/RateLimiter") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const take = Effect.fn("RateLimiter.take")(function* (limit: Limit, caller: string) {
      const { admit, keysOf, quotas, seconds } = yield* counting(limit)
      const [counts] = yield* countsOf(
        retryConflicts(sql`
          SELECT * FROM rate_limits_take(${keysOf(caller)}::text[], ${quotas}::int[], ${seconds}::int[])`),
      )
      return counts === undefined ? yield* Effect.die("a request was not counted") : yield* admit(counts)
    })

    const giveBack = Effect.fn("RateLimiter.giveBack")(function* (taken: Limit, caller: string) {
      const { keysOf, seconds } = yield* counting(taken)
      // Locks like `rate_limits_take`. Drops the oldest hit, so that the others count for longer rather than shorter.
      yield* retryConflicts(sql`
        WITH locked AS MATERIALIZED (
          SELECT key, seconds
          FROM unnest(${keysOf(caller)}::text[], ${seconds}::int[]) WITH ORDINALITY AS w(key, seconds, place)
            JOIN rate_limits USING (key) ORDER BY place DESC FOR NO KEY UPDATE OF rate_limits
        )
        UPDATE rate_limits l
        SET hits = l.hits[2 + width_bucket(rate_limit_now() - make_interval(secs => w.seconds), l.hits):]
        FROM locked AS w WHERE l.key = w.key`)
    })

    const sweepOnce = sql`
      DELETE FROM rate_limits WHERE key IN (
        SELECT key FROM rate_limits WHERE idle_from <= rate_limit_now()
        ORDER BY idle_from LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
      RETURNING 1`
    const sweep = inBatches(batch, sweepOnce).pipe(Effect.withSpan("RateLimiter.sweep"))

    yield* DatabaseWatch.sweeping(sweep, sweepEvery, "limit cleanup failed")
    return { take, giveBack, sweep }
  })
  static readonly layer = Layer.effect(this, this.make)
}
