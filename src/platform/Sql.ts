/** The database: its connection pool, its errors and its transactions. */
import { type Cause, Duration, Effect, Redacted, Ref, Schedule, String } from "effect"
import { SqlClient, SqlError, Statement } from "effect/sql"
import { log } from "./LogMessages.ts"
import { DatabaseUnusable, unusable } from "./DatabaseSettings.ts"
import { type Encryptions, encryptionsOf } from "./Encryption.ts"
import * as Sessions from "./Sessions.ts"

const names = new Map<string, string>()

/** Caches column names, which are few and come with every row. */
const camel = (name: string): string => {
  const cached = names.get(name)
  if (cached !== undefined) return cached
  const made = String.snakeToCamel(name)
  names.set(name, made)
  return made
}

/** Converts the column names of a raw row. */
export const respelled = (row: object): object =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]))

/** The error code of the system or of PostgreSQL. */
export const codeOf = ({ reason }: SqlError.SqlError): unknown =>
  typeof reason.cause === "object" && reason.cause !== null && "code" in reason.cause ? reason.cause.code : undefined

/** Why a connection failed, in the driver's and the system's words. Neither quotes the URL. */
const reasonOf = (error: SqlError.SqlError) => {
  const { reason } = error
  const code = codeOf(error)
  const message = (reason.message ?? reason._tag).replace(/^PgConnection: /u, "")
  return typeof code === "string" ? `${message} (${code})` : message
}

/** Settings that our statements rely on, whatever the defaults of role and database. PgBouncer passes the first four. */
const startupParameters = {
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  standard_conforming_strings: "on",
  timezone: "UTC",
  // A transaction whose server fell silent must give back its locks.
  idle_in_transaction_session_timeout: "10s",
}

/** Seconds that the database gives a statement, and after which one without an answer is lost with its session. */
const limits = { statement: 8, silence: 10 }

/**
 * SQLSTATEs that may come from the state or settings of a session, and so last as long as it does: a read-only or broken
 * transaction state (25), prepared statements (26), the schema (3F), names and rights (42) and a time limit (57014).
 */
const isUnfit = (error: SqlError.SqlError) => /^(?:25|26|3F|42|57014)/u.test(`${codeOf(error)}`)

/** The configuration has refused a URL with a fault, and the driver reports one that is none. */
const encryptionsFor = (url: string): Encryptions => {
  const encryptions = URL.canParse(url) ? encryptionsOf(new URL(url)) : ""
  return typeof encryptions === "string" ? [{}] : encryptions
}

/** A pool of at most `maxConnections`. Column names arrive in camelCase. A migration may take its time. */
export const layer = (url: Redacted.Redacted<string>, maxConnections = 16, isMigrating = false) =>
  Sessions.layer({
    url,
    encryptions: encryptionsFor(Redacted.value(url)),
    maxConnections,
    applicationName: "spirit-altar",
    connectTimeout: "5 seconds",
    startupParameters: { ...startupParameters, statement_timeout: isMigrating ? "0" : `${limits.statement}s` },
    silence: isMigrating ? undefined : limits.silence,
    // Requests share connections, so none waits for a connection of its own.
    multiplex: true,
    // Detects a silently closed connection within 20 seconds, before the next query needs it.
    keepAlive: "10 seconds",
    transformResultNames: camel,
    isUnfit,
  })

/** The host and name of a database. A path that is no plain name is omitted, since it may be part of a password. */
const placeOf = ({ host, pathname }: URL) =>
  `${host === "" ? "its socket" : host}${/^\/[\w-]*$/u.test(pathname) ? pathname : ""}`

/** Waits until the database answers. The reason is logged at once, and again only when it changes. */
export const reached = Effect.fn("Sql.reached")(function* (url: Redacted.Redacted<string>) {
  const address = URL.parse(Redacted.value(url))
  // The pool reports an invalid URL, which never answers.
  if (address === null || !/^postgres(?:ql)?:$/u.test(address.protocol)) return
  const place = placeOf(address)
  const reported = yield* Ref.make("")
  const report = (error: SqlError.SqlError) => {
    const why = reasonOf(error)
    return Effect.flatMap(Ref.getAndSet(reported, why), (before) =>
      before === why ? Effect.void : log("database unreachable", { database: place, reason: why }),
    )
  }
  const reason = yield* unusable.pipe(
    Effect.provide(layer(url, 1)),
    Effect.tapError(report),
    Effect.retry(Schedule.spaced("1 second")),
  )
  if (reason !== undefined) return yield* new DatabaseUnusable({ message: reason })
  if ((yield* Ref.get(reported)) !== "") yield* log("database reachable", { database: place })
})

const errorsIn = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlError.SqlError> =>
  cause.reasons
    .map((reason) => (reason._tag === "Die" ? reason.defect : reason._tag === "Fail" ? reason.error : undefined))
    .filter(SqlError.isSqlError)

/** Why the database failed, in one line; empty if it did not. */
export const reasonIn = (cause: Cause.Cause<unknown>): string => errorsIn(cause).map(reasonOf)[0] ?? ""

/** PostgreSQL's own message of a refusal, which names a table or schema and no value. */
const messageOf = ({ reason }: SqlError.SqlError): string =>
  typeof reason.cause === "object" && reason.cause !== null && "message" in reason.cause
    ? `${reason.cause.message}`
    : ""

/**
 * Names the privilege that a role lacks, if PostgreSQL refused a statement for it (SQLSTATE 42501). It advises no grant
 * on a table: some are closed to servers on purpose.
 */
export const missingGrant = (cause: Cause.Cause<unknown>, role: string): string | undefined => {
  const refused = errorsIn(cause).find((error) => codeOf(error) === "42501")
  return refused === undefined
    ? undefined
    : `The database role ${role} lacks a privilege: ${messageOf(refused)}. Use the owner's DATABASE_URL`
}

export const roleOf = (url: string): string => decodeURIComponent(URL.parse(url)?.username ?? "") || "of DATABASE_URL"

/** Whether the database is away or overloaded, so that a later retry may succeed. */
export const isAway = (cause: Cause.Cause<unknown>): boolean =>
  errorsIn(cause).some((failure) => {
    // Starting, shutting down, out of connections or space, or read-only: the driver does not classify these.
    return failure.isRetryable || /^(?:57P|53|25006$)/u.test(`${codeOf(failure)}`)
  })

/**
 * Whether the server itself refused a statement, so that it had no effect. A lost connection proves nothing: its
 * statements may be committed.
 */
export const isRefused = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 &&
  cause.reasons.every(
    (reason) =>
      reason._tag === "Fail" &&
      SqlError.isSqlError(reason.error) &&
      reason.error.reason._tag !== "ConnectionError" &&
      // A SQLSTATE has a digit, a system error code has none. A time limit would strike each request of a batch, too.
      /^(?!08|57)(?=.*\d)[\dA-Z]{5}$/u.test(`${codeOf(reason.error)}`),
  )

/**
 * A `LIMIT` as a number. For a parameter PostgreSQL assumes a tenth of the table and plans each page of a long one
 * anew. Use it with few different numbers.
 */
export const atMost = (rows: number) => literal(`LIMIT ${rows.toFixed(0)}`)

/** How long a read may take before the database counts as away. All callers that share the read wait for it. */
const readPatience = Duration.seconds(10)

/** Limits the time of a read. Not for writes other than request counts, which may be committed after the timeout. */
export const bounded = <A, E, R>(query: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.timeoutOrElse(query, {
    duration: readPatience,
    orElse: () =>
      Effect.fail(
        new SqlError.SqlError({
          reason: new SqlError.ConnectionError({
            cause: new Error("No answer"),
            message: `The database did not answer within ${Duration.toSeconds(readPatience)} seconds`,
            operation: "query",
          }),
        }),
      ),
  })

/** Leaves a failed statement to the middleware, which answers 503 or 500: no endpoint declares it. */
export const toMiddleware = <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchIf(effect, SqlError.isSqlError, Effect.die)

/** Conflicts where PostgreSQL asks for a retry: 40001 and 40P01. */
const isConflict = (error: unknown) =>
  SqlError.isSqlError(error) && ["SerializationError", "DeadlockError"].includes(error.reason._tag)

const conflictSchedule = Schedule.jittered(Schedule.exponential("5 millis"))

/** Retries a statement or a whole transaction on conflicts, at most 8 times. */
export const retryConflicts = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: isConflict, times: 8, schedule: conflictSchedule })

/** Runs each effect as one transaction. It may run several times on conflicts, so it must not use the network. */
export const transaction = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
      retryConflicts(sql.withTransaction(effect)),
)

/** Repeats a statement that changes at most `batch` rows and returns them, until it finds fewer. Returns the total. */
export const inBatches = Effect.fnUntraced(function* <E, R>(
  batch: number,
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>,
) {
  let total = 0
  let changed = batch
  while (changed === batch) {
    changed = (yield* retryConflicts(statement)).length
    total += changed
  }
  return total
})

class Named {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A parameter of a `prepared` statement. */
export const named = (name: string): Statement.Fragment => Statement.fragment([Statement.parameter(new Named(name))])

/**
 * Prepares statements that are composed once and run with values by name: composing a long one costs as much as running
 * it. Column names arrive unconverted.
 */
export const prepare = Effect.map(SqlClient.SqlClient, (sql) => <Row extends object>(statement: Statement.Fragment) => {
  const [text, parameters] = sql`${statement}`.compile(true)
  return (values: Readonly<Record<string, unknown>>) =>
    sql.unsafe<Row>(
      text,
      parameters.map((parameter) => (parameter instanceof Named ? values[parameter.name] : parameter)),
    ).withoutTransform
})

/** A fragment of a statement. Its values are parameters, except fragments. */
export const part = (texts: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement.Fragment =>
  Statement.fragment(
    texts.flatMap((text, index) => {
      const value = values[index]
      const after = Statement.isFragment(value) ? value.segments : [Statement.parameter(value)]
      return [Statement.literal(text), ...(index < values.length ? after : [])]
    }),
  )

/** A time as RFC 3339 UTC with milliseconds, which aggregated JSON would write otherwise. */
export const instantText = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
export const instant = (column: string): Statement.Fragment => literal(instantText(column))

/** Constant text of a statement, such as its columns. */
export const literal = (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)])
