/** A pool of database sessions. When one of them proves unfit, the pool replaces them all. */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Duration, Effect, Exit, Layer, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"

interface Options extends PgPool.Config {
  readonly transformResultNames: (name: string) => string
  /** Whether an error says that the session itself is unfit, and not only the statement. */
  readonly isUnfit: (error: SqlError.SqlError) => boolean
  readonly onReplaced: (error: SqlError.SqlError) => Effect.Effect<void>
}

/** How soon new sessions may be replaced again: an unfit database must not cause a storm of connections. */
const replacedEvery = Duration.seconds(5)

/** How long requests that wait for an old session may still get it. Idle sessions close after a minute in any case. */
const retiredAfter = Duration.minutes(1)

type Watch = (error: SqlError.SqlError) => Effect.Effect<void>

class Session implements SqlConnection.Connection {
  readonly connection: PgConnection.PgConnection
  readonly watch: Watch

  constructor(connection: PgConnection.PgConnection, watch: Watch) {
    this.connection = connection
    this.watch = watch
  }

  private rows(text: string, values: ReadonlyArray<unknown>, isPrepared: boolean) {
    return Effect.map(Effect.tapError(this.connection.query(text, values, isPrepared), this.watch), ({ rows }) => rows)
  }

  execute(
    text: string,
    values: ReadonlyArray<unknown>,
    transform: (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined,
  ) {
    const rows = this.rows(text, values, true)
    return transform === undefined ? rows : Effect.map(rows, transform)
  }

  executeUnprepared(
    text: string,
    values: ReadonlyArray<unknown>,
    transform: (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined,
  ) {
    const rows = this.rows(text, values, false)
    return transform === undefined ? rows : Effect.map(rows, transform)
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

const make = Effect.fnUntraced(function* ({ isUnfit, onReplaced, transformResultNames, ...options }: Options) {
  const scope = yield* Effect.scope
  const opened = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    return { own, pool: yield* Scope.provide(PgPool.make(options), own) }
  })
  let current = yield* opened
  let replacedAt = -Infinity

  const replace = Effect.fnUntraced(function* (error: SqlError.SqlError) {
    const now = yield* Clock.currentTimeMillis
    if (now - replacedAt < Duration.toMillis(replacedEvery)) return
    replacedAt = now
    const { own } = current
    current = yield* opened
    yield* onReplaced(error)
    const retired = Effect.andThen(Effect.sleep(retiredAfter), Scope.close(own, Exit.void))
    yield* Effect.forkIn(retired, scope)
  })

  const watch: Watch = (error) => (isUnfit(error) ? Effect.ignore(replace(error)) : Effect.void)
  const sessionOf = (connection: PgConnection.PgConnection) => new Session(connection, watch)

  return yield* SqlClient.make({
    acquirer: Effect.suspend(() => Effect.map(current.pool.get, sessionOf)),
    borrower: (use) => Effect.suspend(() => current.pool.use((connection) => use(sessionOf(connection)))),
    transactionAcquirer: Effect.suspend(() => Effect.map(current.pool.reserve, sessionOf)),
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
