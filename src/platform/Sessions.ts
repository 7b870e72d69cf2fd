/** A pool of database sessions. A session that proves unfit is closed when its statements have ended. */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Effect, Layer, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"

interface Options extends PgPool.Config {
  readonly transformResultNames: (name: string) => string
  /** Whether an error says that the session itself is unfit, and not only the statement. */
  readonly isUnfit: (error: SqlError.SqlError) => boolean
}

/** Milliseconds until the next session may be closed: an unfit database must not cause a storm of connections. */
const closedEvery = 250

type Transform = Parameters<SqlConnection.Connection["execute"]>[2]

class Session implements SqlConnection.Connection {
  readonly connection: PgConnection.PgConnection
  readonly watch: (error: SqlError.SqlError) => Effect.Effect<void>

  constructor(connection: PgConnection.PgConnection, watch: Session["watch"]) {
    this.connection = connection
    this.watch = watch
  }

  execute(text: string, values: ReadonlyArray<unknown>, transform: Transform, isPrepared = true) {
    const result = Effect.tapError(this.connection.query(text, values, isPrepared), this.watch)
    return Effect.map(result, transform === undefined ? ({ rows }) => rows : ({ rows }) => transform(rows))
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>, transform: Transform) {
    return this.execute(text, values, transform, false)
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return Effect.tapError(this.connection.query(text, values), this.watch)
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return Effect.tapError(this.connection.queryValues(text, values), this.watch)
  }

  executeValuesUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return Effect.tapError(this.connection.queryValues(text, values, false), this.watch)
  }

  executeStream(text: string, values: ReadonlyArray<unknown>) {
    return Stream.tapError(this.connection.stream(text, values), this.watch)
  }
}

const rolledBack = new SqlError.SqlError({
  reason: new SqlError.UnknownError({
    cause: new Error("COMMIT rolled back an aborted transaction"),
    message: "COMMIT rolled back an aborted transaction",
    operation: "commit",
  }),
})

/** PostgreSQL answers `ROLLBACK` to the `COMMIT` of an aborted transaction. */
const commit = (session: SqlConnection.Connection) =>
  Effect.flatMap(session.executeRaw("COMMIT", []), (result) =>
    typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"
      ? Effect.fail(rolledBack)
      : Effect.void,
  )

const make = Effect.fnUntraced(function* ({ isUnfit, transformResultNames, ...options }: Options) {
  const pool = yield* PgPool.make(options)
  let closedAt = -Infinity

  const close = (connection: PgConnection.PgConnection) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - closedAt < closedEvery) return Effect.void
      closedAt = now
      return pool.invalidate(connection)
    })
  const sessionOf = (connection: PgConnection.PgConnection) =>
    new Session(connection, (error) => (isUnfit(error) ? close(connection) : Effect.void))

  return yield* SqlClient.make({
    acquirer: Effect.map(pool.get, sessionOf),
    borrower: (use) => pool.use((connection) => use(sessionOf(connection))),
    transactionAcquirer: Effect.map(pool.reserve, sessionOf),
    compiler: PgClient.makeCompiler(undefined, false),
    transformRows: Statement.defaultTransforms(transformResultNames, false).array,
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    driver: "postgresql",
    spanAttributes: [["db.system.name", "postgresql"]],
  })
})

export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))
