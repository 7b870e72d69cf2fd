/** Limits whose state is in PostgreSQL, shared by all servers. */
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Rows from "../platform/Rows.ts"
import { inBatches, named, prepared, retryConflicts } from "../platform/Sql.ts"
import { exceeded, type Policy } from "./Policy.ts"
import { type Gate, idle, keyOf, RateLimiter, rowsOf, sweepEvery } from "./RateLimiter.ts"
import * as Windows from "./Windows.ts"

/** `idle_from` moves in steps of this many milliseconds, so that most updates leave the index on it alone. */
const step = 600_000
const batch = 1000

/** Of addresses, and of each wider network. */
const tables = ["rate_limits", "rate_limits_56", "rate_limits_48"] as const

const countsOf = Rows.rowsOf("rate_limits", Windows.Counts)

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

      const tableOf = ({ network }: Policy) =>
        sql.literal(network === undefined ? tables[0] : `${tables[0]}_${network}`)

      /** Takes of one policy what `from` asks for, a relation of `key` and `n` with what follows it. */
      const taking = (policy: Policy, from: Statement.Fragment) =>
        // In the order of keys, so that statements that lock several never wait for each other in a circle.
        sql`
          INSERT INTO ${tableOf(policy)} AS l (key, hits, idle_from)
          SELECT key, array_fill(${sql.literal(now)}, ARRAY[n]), ${named("limit_idle")}::timestamptz
          FROM ${from} ORDER BY key
          ON CONFLICT (key) DO UPDATE
          SET hits = ${windows.appended(policy, "l.hits", now, asked)}, idle_from = excluded.idle_from
          WHERE ${windows.isFree(policy, "l.hits", now, asked)}
          RETURNING key, ${windows.countsAppended(policy, "l.hits")}`

      const mostOf = (policy: Policy) => sql.literal(String(Windows.most(policy)))

      /** Whether the row of a policy has room, as far as the statement's snapshot knows. */
      const seemsFree = (policy: Policy, key: string) => sql`NOT EXISTS (
        SELECT FROM ${tableOf(policy)} AS l
        WHERE l.key = ${sql.literal(key)} AND NOT (${windows.isFree(policy, "l.hits", now, "n")}))`

      /**
       * The wider networks of an address give way first and the address last, each under its lock, so that none ever
       * accepts more than it may. What is full is seen before anything is taken; a request that loses a race against
       * others of its address may still take a place of its networks.
       */
      const withNetworks = (
        policy: Policy,
        [middle, wide]: readonly [Policy, Policy],
        source: Statement.Fragment,
      ) => sql`
        limit_asked AS MATERIALIZED (
          SELECT * FROM (
            SELECT key AS whole, n, split_part(key, '.', 1) AS address, nullif(split_part(key, '.', 2), '') AS middle,
              nullif(split_part(key, '.', 3), '') AS wide
            FROM ${source} WHERE n <= ${mostOf(policy)}
          ) AS parted
          WHERE middle IS NULL OR (${seemsFree(policy, "parted.address")}
            AND ${seemsFree(middle, "parted.middle")} AND ${seemsFree(wide, "parted.wide")})
        ), limit_wide AS (
          ${taking(wide, sql`(SELECT wide AS key, sum(n)::int AS n FROM limit_asked WHERE wide IS NOT NULL GROUP BY wide) AS a`)}
        ), limit_middle AS (
          ${taking(
            middle,
            sql`(SELECT middle AS key, sum(n)::int AS n FROM limit_asked
              WHERE wide IN (SELECT key FROM limit_wide) GROUP BY middle) AS a`,
          )}
        ), limit_address AS (
          ${taking(
            policy,
            sql`(SELECT address AS key, n FROM limit_asked
              WHERE middle IS NULL OR middle IN (SELECT key FROM limit_middle)) AS a`,
          )}
        ), slot AS (
          SELECT whole AS key, used, oldest, at FROM limit_address JOIN limit_asked ON address = limit_address.key
        )`

      const gate = (policy: Policy, source: Statement.Fragment): Gate => ({
        slot:
          policy.wider === undefined
            ? sql`slot AS (${taking(policy, sql`${source} WHERE n <= ${mostOf(policy)}`)})`
            : withNetworks(policy, policy.wider, source),
        keyOf: (key) => keyOf(policy, key),
        enter: () => Effect.map(idleFrom, (from) => ({ values: { limit_idle: from }, release: () => Effect.void })),
      })

      const statements = new WeakMap<Policy, ReturnType<typeof written>>()
      const one = sql`(SELECT ${named("key")}::text AS key, 1 AS n) AS asked`
      const written = (policy: Policy) => {
        const { enter, slot } = gate(policy, one)
        const looking = sql`SELECT ${windows.counts(policy, "hits", now)} FROM ${tableOf(policy)} WHERE key = ${named("key")}`
        return { enter, take: prepared(sql, sql`WITH ${slot} SELECT * FROM slot`), look: prepared(sql, looking) }
      }
      const statementsOf = (policy: Policy) => {
        const known = statements.get(policy) ?? written(policy)
        statements.set(policy, known)
        return known
      }

      const look = Effect.fn("RateLimiter.look")(function* (policy: Policy, key: string) {
        const remaining = yield* Effect.forEach(rowsOf(policy, key), ([one, row]) =>
          Effect.map(countsOf(statementsOf(one).look({ key: row })), ([counts]) =>
            counts === undefined ? Windows.remaining(one, [], 0) : Windows.remainingOf(one, counts),
          ),
        )
        return remaining.flat()
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

      const sweepOnce = (table: (typeof tables)[number]) =>
        Effect.flatMap(
          Clock.currentTimeMillis,
          (millis) => sql`
            DELETE FROM ${sql(table)} WHERE key IN (
              SELECT key FROM ${sql(table)} WHERE idle_from <= ${new Date(millis)}
              ORDER BY idle_from LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
            RETURNING 1`,
        )
      const sweep = Effect.forEach(tables, (table) => inBatches(batch, sweepOnce(table))).pipe(
        Effect.map((gone) => gone.reduce((total, some) => total + some, 0)),
        Effect.orDie,
        Effect.withSpan("RateLimiter.sweep"),
      )

      yield* sweep.pipe(
        Effect.catchCause(DatabaseWatch.failed("Idle limits could not be removed")),
        Effect.repeat(Schedule.spaced(sweepEvery)),
        Effect.forkScoped,
      )
      return RateLimiter.of({ take, look, gate, sweep })
    }),
  )
