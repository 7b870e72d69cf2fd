/** Accepts a request only while its policy has room, exactly, on any number of servers. A refusal consumes nothing. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Rows from "../platform/Rows.ts"
import { inBatches, named, prepare, retryConflicts } from "../platform/Sql.ts"
import { exceeded, type Policy } from "./Policy.ts"
import * as Windows from "./Windows.ts"

/** A decision inside a larger statement, so that limit and work take one round trip. */
export interface Gate {
  /**
   * Members of a `WITH` that end in `slot`. They take `n` requests for each `key` (made by `keyOf`) of the source, all
   * or none. `slot` has the key and final `Counts` of each accepted row.
   */
  readonly slot: Statement.Fragment
  readonly keyOf: (key: string) => string
  readonly values: Effect.Effect<Readonly<Record<string, unknown>>>
}

/** Milliseconds without requests after which state may be removed. */
const idle = 86_400_000
const sweepEvery = "5 minutes"

/** The policies of a request with the keys of their rows: the address's and those of its wider networks. */
const rowsOf = (policy: Policy, key: string): ReadonlyArray<readonly [Policy, string]> => {
  const [address = "", ...networks] = key.split(".")
  const wider = networks.length === 0 ? [] : (policy.wider ?? [])
  return [
    [policy, `${policy.name}:${address}`],
    ...wider.map((one, index) => [one, `${one.name}:${networks[index] ?? ""}`] as const),
  ]
}

/** The keys of all rows of a request, separated by dots. */
const keyOf = (policy: Policy, key: string) =>
  rowsOf(policy, key)
    .map(([, row]) => row)
    .join(".")

/** `idle_from` moves in steps of this many milliseconds, so that most updates do not touch its index. */
const step = 600_000
const batch = 1000

/** For addresses, and for each wider network. */
const tables = ["rate_limits", "rate_limits_56", "rate_limits_48"] as const

const countsOf = Rows.rowsOf("rate_limits", Windows.Counts)

/**
 * Limiter state in PostgreSQL, shared by all servers. It uses the database's clock, read once the row is locked, since
 * servers' clocks differ. `now` is its SQL; tests supply one they can move.
 */
export class RateLimiter extends Context.Service<RateLimiter>()("spirit-altar/limits/RateLimiter", {
  make: Effect.fnUntraced(function* (now: string) {
    const sql = yield* SqlClient.SqlClient
    const statementOf = yield* prepare

    /** When state may be removed, one step later than needed because this is a server's clock. */
    const idleFrom = Effect.map(
      Clock.currentTimeMillis,
      (millis) => new Date((Math.floor(millis / step) + 2) * step + idle),
    )

    /** The number of requests, if the key already has a row. */
    const asked = "cardinality(excluded.hits)"

    const tableOf = ({ network }: Policy) => sql.literal(network === undefined ? tables[0] : `${tables[0]}_${network}`)

    /** Takes from one policy the requests of `from`, a relation of `key` and `n` as `FROM` text. */
    const taking = (policy: Policy, from: Statement.Fragment) =>
      // Locks in the order of keys, so that concurrent statements cannot deadlock.
      sql`
        INSERT INTO ${tableOf(policy)} AS l (key, hits, idle_from)
        SELECT key, array_fill(${sql.literal(now)}, ARRAY[n]), ${named("limit_idle")}::timestamptz
        FROM ${from} ORDER BY key
        ON CONFLICT (key) DO UPDATE
        SET hits = ${Windows.appended(policy, "l.hits", now, asked)}, idle_from = excluded.idle_from
        WHERE ${Windows.isFree(policy, "l.hits", now, asked)}
        RETURNING key, ${Windows.countsAppended(policy, "l.hits")}`

    const mostOf = (policy: Policy) => sql.literal(String(Windows.most(policy)))

    /** Whether the row of a policy has room, as of the statement's snapshot. */
    const seemsFree = (policy: Policy, key: string) => sql`NOT EXISTS (
      SELECT FROM ${tableOf(policy)} AS l
      WHERE l.key = ${sql.literal(key)} AND NOT (${Windows.isFree(policy, "l.hits", now, "n")}))`

    /**
     * Takes from the wider networks first and the address last, each under its lock. Full rows are noticed before
     * anything is taken, but a request that loses a race for its address may consume quota of its networks.
     */
    const withNetworks = (policy: Policy, [middle, wide]: readonly [Policy, Policy], source: Statement.Fragment) => sql`
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

    /** `take` as part of the caller's statement. `source` is the text after its `FROM`. */
    const gate = (policy: Policy, source: Statement.Fragment): Gate => ({
      slot:
        policy.wider === undefined
          ? sql`slot AS (${taking(policy, sql`${source} WHERE n <= ${mostOf(policy)}`)})`
          : withNetworks(policy, policy.wider, source),
      keyOf: (key) => keyOf(policy, key),
      values: Effect.map(idleFrom, (from) => ({ limit_idle: from })),
    })

    const statements = new WeakMap<Policy, ReturnType<typeof written>>()
    const one = sql`(SELECT ${named("key")}::text AS key, 1 AS n) AS asked`
    const written = (policy: Policy) => {
      const { slot, values } = gate(policy, one)
      const counting = sql`SELECT ${Windows.counts(policy, "hits", now)} FROM ${tableOf(policy)} WHERE key = ${named("key")}`
      return { values, take: statementOf(sql`WITH ${slot} SELECT * FROM slot`), peek: statementOf(counting) }
    }
    const statementsOf = (policy: Policy) => {
      const known = statements.get(policy) ?? written(policy)
      statements.set(policy, known)
      return known
    }

    /** The remaining quota, without taking. */
    const peek = Effect.fn("RateLimiter.peek")(function* (policy: Policy, key: string) {
      const remaining = yield* Effect.forEach(rowsOf(policy, key), ([one, row]) =>
        Effect.map(countsOf(statementsOf(one).peek({ key: row })), ([counts]) =>
          counts === undefined ? Windows.untouched(one) : Windows.remainingOf(one, counts),
        ),
      )
      return remaining.flat()
    }, Effect.orDie)

    /** Takes one request of `key`, a pseudonym and never an address, and returns the remaining quota. */
    const take = Effect.fn("RateLimiter.take")(
      function* (policy: Policy, key: string) {
        const statement = statementsOf(policy)
        const values = yield* statement.values
        const [row] = yield* countsOf(retryConflicts(statement.take({ ...values, key: keyOf(policy, key) })))
        return row === undefined ? yield* exceeded(yield* peek(policy, key), policy) : Windows.remainingOf(policy, row)
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
    /** Removes state idle for 24 hours and returns the number of keys. Also runs periodically. */
    const sweep = Effect.forEach(tables, (table) => inBatches(batch, sweepOnce(table))).pipe(
      Effect.map((gone) => gone.reduce((total, some) => total + some, 0)),
      Effect.orDie,
      Effect.withSpan("RateLimiter.sweep"),
    )

    yield* DatabaseWatch.sweeping(sweep, sweepEvery, "limit cleanup failed")
    return { take, peek, gate, sweep }
  }),
}) {
  static readonly layer = (now = "clock_timestamp()") => Layer.effect(this, this.make(now))
}
