/** Limits whose state is in PostgreSQL, shared by all servers. */
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { rowsOf } from "../platform/Rows.ts"
import { inBatches, named, prepared, retryConflicts } from "../platform/Sql.ts"
import { exceeded, type Policy } from "./Policy.ts"
import { type Gate, idle, keyOf, RateLimiter, sweepEvery } from "./RateLimiter.ts"
import * as Windows from "./Windows.ts"

/** `idle_from` moves in steps of this many milliseconds, so that most updates leave the index on it alone. */
const step = 600_000
const batch = 1000

const countsOf = rowsOf("rate_limits", Windows.Counts)

/**
 * State in PostgreSQL, shared by all servers. Time is the database's, read when the row is locked: it is the one
 * clock that several servers agree on. `now` is its SQL; tests give one that they can move.
 */
export const layer = (now: string = "clock_timestamp()") =>
  Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const windows = Windows.inSql(sql)

      /** From when state may go; one step later than needed, because this is the clock of a server. */
      const idleFrom = Effect.map(
        Clock.currentTimeMillis,
        (millis) => new Date((Math.floor(millis / step) + 2) * step + idle),
      )

      /** How many are asked for, where the key is there already. */
      const asked = "cardinality(excluded.hits)"

      const gate = (policy: Policy, source: Statement.Fragment): Gate => ({
        // In the order of keys, so that statements that lock several never wait for each other in a circle.
        query: sql`
          INSERT INTO rate_limits AS l (key, hits, idle_from)
          SELECT key, array_fill(${sql.literal(now)}, ARRAY[n]), ${named("limit_idle")}::timestamptz
          FROM ${source} WHERE n <= ${sql.literal(String(Windows.most(policy)))} ORDER BY key
          ON CONFLICT (key) DO UPDATE
          SET hits = ${windows.appended(policy, "l.hits", now, asked)}, idle_from = excluded.idle_from
          WHERE ${windows.isFree(policy, "l.hits", now, asked)}
          RETURNING key, ${windows.countsAppended(policy, "l.hits")}`,
        keyOf: (key) => keyOf(policy, key),
        enter: () => Effect.map(idleFrom, (from) => ({ values: { limit_idle: from }, release: () => Effect.void })),
      })

      const statements = new WeakMap<Policy, ReturnType<typeof written>>()
      const one = sql`(SELECT ${named("key")}::text AS key, 1 AS n) AS asked`
      const written = (policy: Policy) => {
        const { enter, query } = gate(policy, one)
        const looking = sql`SELECT ${windows.counts(policy, "hits", now)} FROM rate_limits WHERE key = ${named("key")}`
        return { enter, take: prepared(sql, query), look: prepared(sql, looking) }
      }
      const statementsOf = (policy: Policy) => {
        const known = statements.get(policy) ?? written(policy)
        statements.set(policy, known)
        return known
      }

      const look = Effect.fn("RateLimiter.look")(function* (policy: Policy, key: string) {
        const [row] = yield* countsOf(statementsOf(policy).look({ key: keyOf(policy, key) }))
        return row === undefined ? Windows.remaining(policy, [], 0) : Windows.remainingOf(policy, row)
      }, Effect.orDie)

      const take = Effect.fn("RateLimiter.take")(
        function* (policy: Policy, key: string) {
          const statement = statementsOf(policy)
          const { values } = yield* statement.enter([key])
          const [row] = yield* countsOf(retryConflicts(statement.take({ ...values, key: keyOf(policy, key) })))
          return row === undefined
            ? yield* exceeded(yield* look(policy, key), policy)
            : Windows.remainingOf(policy, row)
        },
        Effect.catchTag("SqlError", Effect.die),
      )

      const sweepOnce = Effect.flatMap(
        Clock.currentTimeMillis,
        (millis) => sql`
          DELETE FROM rate_limits WHERE key IN (
            SELECT key FROM rate_limits WHERE idle_from <= ${new Date(millis)}
            ORDER BY idle_from LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
          RETURNING 1`,
      )
      const sweep = inBatches(batch, sweepOnce).pipe(Effect.orDie, Effect.withSpan("RateLimiter.sweep"))

      yield* sweep.pipe(
        Effect.catchCause((cause) => Effect.logError("Idle limits could not be removed", cause)),
        Effect.repeat(Schedule.spaced(sweepEvery)),
        Effect.forkScoped,
      )
      return RateLimiter.of({ take, look, gate, sweep })
    }),
  )
