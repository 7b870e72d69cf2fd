/** Accepts a request only while its policy has room, exactly, on however many servers; a refusal consumes nothing. */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError, Statement } from "effect/sql"
import { inBatches, named, prepared, retryConflicts } from "../platform/Sql.ts"
import { exceeded, type Exceeded, type Left, type Policy } from "./Policy.ts"
import * as Windows from "./Windows.ts"

/** Decisions that a larger statement carries, so that limit and work cost one round trip together. */
export interface Gate {
  /**
   * A query that takes one request for each row of its source, a relation with distinct `key`s made by `keyOf`, and
   * yields a row of `key` and `Counts` for each that was accepted. Stands in a `WITH`, once.
   */
  readonly query: Statement.Fragment
  readonly keyOf: (key: string) => string
  readonly enter: (keys: ReadonlyArray<string>) => Effect.Effect<Entry>
}

/** Requests at a gate. */
export interface Entry {
  /** The named parameters of the gate's query. */
  readonly values: Readonly<Record<string, unknown>>
  /** To be run for a key for which the statement was not run, or took nothing for a reason of its own. */
  readonly release: (key: string) => Effect.Effect<void>
}

/** Milliseconds of idleness after which state may go. */
const idle = 86_400_000
const step = 600_000
const sweepEvery = "5 minutes"
const batch = 1000

const keyOf = (policy: Policy, key: string) => `${policy.name}:${key}`

export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** Takes one request of `key`, a pseudonym and never an address; tells what is left. */
    take(policy: Policy, key: string): Effect.Effect<ReadonlyArray<Left>, Exceeded | SqlError.SqlError>
    /** What is left, without taking. */
    look(policy: Policy, key: string): Effect.Effect<ReadonlyArray<Left>, SqlError.SqlError>
    /** The same as `take` for a statement of the caller; `source` is what follows its `FROM`. */
    gate(policy: Policy, source: Statement.Fragment): Gate
    /** Forgets what has been idle for 24 hours; returns how many keys. Runs by itself too. */
    readonly sweep: Effect.Effect<number, SqlError.SqlError>
  }
>()("spirit-altar/limits/RateLimiter") {
  /** State in this process alone, for a single server. */
  static readonly layerMemory = Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const hits = new Map<string, ReadonlyArray<number>>()
      const hitsOf = (policy: Policy, key: string) => hits.get(keyOf(policy, key)) ?? []

      const attempt = Effect.fnUntraced(function* (policy: Policy, key: string) {
        const before = hitsOf(policy, key)
        const at = Math.max(yield* Clock.currentTimeMillis, before.at(-1) ?? 0)
        const after = Windows.take(policy, before, at)
        if (after !== undefined) hits.set(keyOf(policy, key), after)
        return { taken: after !== undefined, at, left: Windows.left(policy, after ?? before, at) }
      })

      const take = Effect.fn("RateLimiter.take")(function* (policy: Policy, key: string) {
        const { left, taken } = yield* attempt(policy, key)
        return taken ? left : yield* exceeded(left, policy)
      })

      const look = Effect.fn("RateLimiter.look")(function* (policy: Policy, key: string) {
        return Windows.left(policy, hitsOf(policy, key), yield* Clock.currentTimeMillis)
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
          for (const key of keys) {
            const { at, left, taken: isTaken } = yield* attempt(policy, key)
            if (!isTaken) continue
            taken.set(key, at)
            const used = left.map(({ remaining, window }) => window.quota - remaining)
            const oldest = left.map(
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

  /**
   * State in PostgreSQL, shared by all servers. Time is the database's, read when the row is locked: it is the one
   * clock that several servers agree on. `now` is its SQL; tests give one that they can move.
   */
  static readonly layerPostgres = (now: string = "clock_timestamp()") =>
    Layer.effect(
      RateLimiter,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const windows = Windows.inSql(sql)

        /**
         * From when state may go, in steps of ten minutes, so that most updates leave the index on it alone; one step
         * later than needed, because this is the clock of a server.
         */
        const idleFrom = Effect.map(
          Clock.currentTimeMillis,
          (millis) => new Date((Math.floor(millis / step) + 2) * step + idle),
        )

        const gate = (policy: Policy, source: Statement.Fragment): Gate => ({
          // In the order of keys, so that statements that lock several never wait for each other in a circle.
          query: sql`
            INSERT INTO rate_limits AS l (key, hits, idle_from)
            SELECT key, ARRAY[${sql.literal(now)}], ${named("limit_idle")}::timestamptz FROM ${source} ORDER BY key
            ON CONFLICT (key) DO UPDATE
            SET hits = ${windows.appended(policy, "l.hits", now)}, idle_from = excluded.idle_from
            WHERE ${windows.isFree(policy, "l.hits", now)}
            RETURNING key, ${windows.countsAppended(policy, "l.hits")}`,
          keyOf: (key) => keyOf(policy, key),
          enter: () => Effect.map(idleFrom, (from) => ({ values: { limit_idle: from }, release: () => Effect.void })),
        })

        const statements = new WeakMap<Policy, ReturnType<typeof written>>()
        const one = sql`(SELECT ${named("key")}::text AS key) AS asked`
        const written = (policy: Policy) => {
          const { enter, query } = gate(policy, one)
          const looking = sql`SELECT ${windows.counts(policy, "hits", now)} FROM rate_limits WHERE key = ${named("key")}`
          return { enter, take: prepared<Windows.Counts>(sql, query), look: prepared<Windows.Counts>(sql, looking) }
        }
        const statementsOf = (policy: Policy) => {
          const known = statements.get(policy) ?? written(policy)
          statements.set(policy, known)
          return known
        }

        const look = Effect.fn("RateLimiter.look")(function* (policy: Policy, key: string) {
          const [row] = yield* statementsOf(policy).look({ key: keyOf(policy, key) })
          return Windows.leftOf(policy, row ?? { used: [], oldest: [], at: new Date(0) })
        })

        const take = Effect.fn("RateLimiter.take")(function* (policy: Policy, key: string) {
          const statement = statementsOf(policy)
          const { values } = yield* statement.enter([key])
          const [row] = yield* retryConflicts(statement.take({ ...values, key: keyOf(policy, key) }))
          return row === undefined ? yield* exceeded(yield* look(policy, key), policy) : Windows.leftOf(policy, row)
        })

        const sweepOnce = Effect.flatMap(
          Clock.currentTimeMillis,
          (millis) => sql`
            DELETE FROM rate_limits WHERE key IN (
              SELECT key FROM rate_limits WHERE idle_from <= ${new Date(millis)}
              ORDER BY idle_from LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
            RETURNING 1`,
        )
        const sweep = inBatches(batch, sweepOnce).pipe(Effect.withSpan("RateLimiter.sweep"))

        yield* sweep.pipe(
          Effect.catchCause((cause) => Effect.logError("Idle limits could not be removed", cause)),
          Effect.repeat(Schedule.spaced(sweepEvery)),
          Effect.forkScoped,
        )
        return RateLimiter.of({ take, look, gate, sweep })
      }),
    )
}
