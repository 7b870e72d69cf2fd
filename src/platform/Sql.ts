/** The database: one pool, and the one way a transaction is run. */
import { PgClient } from "@effect/sql-pg"
import { type Cause, Duration, Effect, Redacted, Ref, Schedule, String } from "effect"
import { SqlClient, SqlError, Statement } from "effect/sql"
import { literal } from "./SqlPart.ts"

const names = new Map<string, string>()

/** Column names are few and come with every row: each is respelled once. */
const camel = (name: string): string => {
  const known = names.get(name)
  if (known !== undefined) return known
  const made = String.snakeToCamel(name)
  names.set(name, made)
  return made
}

/** A row that came without its names respelled. */
export const respelled = (row: object): object =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]))

/** A pool of at most `maxConnections`; column names arrive in camelCase. */
export const layer = (url: Redacted.Redacted<string>, maxConnections = 16) =>
  PgClient.layer({
    url,
    maxConnections,
    applicationName: "spirit-altar",
    connectTimeout: "5 seconds",
    // Requests share connections: one round trip each, without waiting for a connection of their own.
    multiplex: true,
    // A peer that went without a word is found out in 20 seconds, and not by the next who asks.
    keepAlive: "10 seconds",
    transformResultNames: camel,
    transformJson: false,
  })

/** What the system or PostgreSQL calls an error. */
export const codeOf = ({ reason }: SqlError.SqlError): unknown =>
  typeof reason.cause === "object" && reason.cause !== null && "code" in reason.cause ? reason.cause.code : undefined

/** Why a connection failed, in the driver's words and the system's; neither quotes the URL. */
const reasonOf = (error: SqlError.SqlError) => {
  const { reason } = error
  const code = codeOf(error)
  const message = (reason.message ?? reason._tag).replace(/^PgConnection: /u, "")
  return typeof code === "string" ? `${message} (${code})` : message
}

/** Where a database is, without user, password and options; a path that is no mere name may be half a password. */
const placeOf = ({ host, pathname }: URL) =>
  `${host === "" ? "its socket" : host}${/^\/[\w-]*$/u.test(pathname) ? pathname : ""}`

/** Waits until the database answers; why it does not is said at once, and again only when the reason changes. */
export const reached = Effect.fn("Sql.reached")(function* (url: Redacted.Redacted<string>) {
  const address = URL.parse(Redacted.value(url))
  // What is no such URL never answers; the pool says what is wrong with it.
  if (address === null || !/^postgres(?:ql)?:$/u.test(address.protocol)) return
  const place = placeOf(address)
  const reported = yield* Ref.make("")
  const report = (error: SqlError.SqlError) => {
    const why = reasonOf(error)
    return Effect.flatMap(Ref.getAndSet(reported, why), (before) =>
      before === why
        ? Effect.void
        : Effect.logError(
            `The database at ${place} cannot be reached: ${why}. It is asked again every second; until it answers, every request is answered 503.`,
          ),
    )
  }
  yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`).pipe(
    Effect.provide(layer(url, 1)),
    Effect.tapError(report),
    Effect.retry(Schedule.spaced("1 second")),
  )
  if ((yield* Ref.get(reported)) !== "") yield* Effect.logInfo(`The database at ${place} answers.`)
})

/** The errors of the database among what went wrong. */
const errorsIn = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlError.SqlError> =>
  cause.reasons
    .map((reason) => (reason._tag === "Die" ? reason.defect : reason._tag === "Fail" ? reason.error : undefined))
    .filter(SqlError.isSqlError)

/** Why the database failed, in one line; empty where it did not. */
export const reasonIn = (cause: Cause.Cause<unknown>): string => errorsIn(cause).map(reasonOf)[0] ?? ""

/** PostgreSQL's own message of a refusal: it names a table or schema, and no value. */
const messageOf = ({ reason }: SqlError.SqlError): string =>
  typeof reason.cause === "object" && reason.cause !== null && "message" in reason.cause
    ? `${reason.cause.message}`
    : ""

/** Which grant a role lacks, where PostgreSQL refused a statement for want of one (SQLSTATE 42501). */
export const missingGrant = (cause: Cause.Cause<unknown>, role: string): string | undefined => {
  const refused = errorsIn(cause).find((error) => codeOf(error) === "42501")
  if (refused === undefined) return undefined
  const message = messageOf(refused)
  const [, kind = "", object = ""] = /^permission denied for (\w+) (\S+)$/u.exec(message) ?? []
  const lacks = `The database role ${role} lacks a privilege: ${message}.`
  switch (kind) {
    case "table":
      return `${lacks} Use the DATABASE_URL of the role that owns the table, or have that role run: GRANT SELECT, INSERT, UPDATE, DELETE ON ${object} TO ${role}`
    case "schema":
      return `${lacks} Migrate with the DATABASE_URL of the role that owns the schema, or have that role run: GRANT USAGE, CREATE ON SCHEMA ${object} TO ${role}`
    case "database":
      return `${lacks} Have the owner of the database run: GRANT CONNECT ON DATABASE ${object} TO ${role}`
    default:
      return `${lacks} Use the DATABASE_URL of the role that owns the tables`
  }
}

/** The role that a URL connects as. */
export const roleOf = (url: string): string => decodeURIComponent(URL.parse(url)?.username ?? "") || "of DATABASE_URL"

/** Whether something failed because the database is away, or too busy: asked again in a while, it may well succeed. */
export const isAway = (cause: Cause.Cause<unknown>): boolean =>
  errorsIn(cause).some((failure) => {
    // It shuts down or starts, has no connection or no room left, or takes no writes: the driver knows no kind for these.
    return failure.isRetryable || /^(?:57P|53|25006$)/u.test(`${codeOf(failure)}`)
  })

/**
 * Whether the server itself refused a statement, so that nothing of it was done. A connection that was lost tells nothing:
 * what was sent on it may be committed.
 */
export const isRefused = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 &&
  cause.reasons.every(
    (reason) =>
      reason._tag === "Fail" &&
      SqlError.isSqlError(reason.error) &&
      reason.error.reason._tag !== "ConnectionError" &&
      // A SQLSTATE has a digit, and an error of the system none.
      /^(?!08|57P)(?=.*\d)[\dA-Z]{5}$/u.test(`${codeOf(reason.error)}`),
  )

/**
 * The first rows, so many at most: as a number, because of a parameter PostgreSQL expects a tenth of the table, and plans
 * each page of a long one anew. For few different numbers.
 */
export const atMost = (rows: number) => literal(`LIMIT ${rows.toFixed(0)}`)

/** How long a read may take before the database counts as away: who waits for it shares it with all who ask the same. */
const readPatience = Duration.seconds(10)

/** For what changes nothing but counts of requests: anything else may have been committed when its time is over. */
export const bounded = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.timeoutOrElse(read, {
    duration: readPatience,
    orElse: () =>
      Effect.die(
        new SqlError.SqlError({
          reason: new SqlError.ConnectionError({
            cause: new Error("No answer"),
            message: `The database did not answer within ${Duration.toSeconds(readPatience)} seconds`,
            operation: "query",
          }),
        }),
      ),
  })

/** PostgreSQL's way of saying "nothing happened, start over": 40001 and 40P01. */
const isConflict = (error: unknown) =>
  SqlError.isSqlError(error) && ["SerializationError", "DeadlockError"].includes(error.reason._tag)

const conflictSchedule = Schedule.jittered(Schedule.exponential("5 millis"))

/** Repeats a statement or a whole transaction that the database asked to be started over; at most 8 times. */
export const retryConflicts = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: isConflict, times: 8, schedule: conflictSchedule })

/** Runs each effect as one transaction, with no network inside: committed once or not at all. */
export const transaction = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
      retryConflicts(sql.withTransaction(effect)),
)

/** Repeats a statement that changes at most `batch` rows and returns them, until it finds fewer; returns how many. */
export const inBatches = Effect.fnUntraced(function* <E, R>(
  batch: number,
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>,
) {
  let total = 0
  let found = batch
  while (found === batch) {
    found = (yield* retryConflicts(statement)).length
    total += found
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
 * Prepares statements that are written once and run with values by name: composing the text of a long one costs as much
 * as running it. Column names arrive as they are written.
 */
export const prepare = Effect.map(SqlClient.SqlClient, (sql) => <Row extends object>(statement: Statement.Fragment) => {
  const [text, parameters] = sql`${statement}`.compile(true)
  return (values: Readonly<Record<string, unknown>>) =>
    sql.unsafe<Row>(
      text,
      parameters.map((one) => (one instanceof Named ? values[one.name] : one)),
    ).withoutTransform
})
