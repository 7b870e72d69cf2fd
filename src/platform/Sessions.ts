/**
 * A pool of database sessions. A session that proves unfit is closed when its statements have ended. The socket of a
 * silent one is destroyed, which fails its statements: each of them may have been done.
 */
import { Socket } from "node:net"
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Effect, Exit, Layer, Schedule, Schema, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import type { Encryptions } from "./Encryption.ts"

interface Options extends PgPool.Config {
  readonly transformResultNames: (name: string) => string
  /** Whether an error says that the session itself is unfit, and not only the statement. */
  readonly isUnfit: (error: SqlError.SqlError) => boolean
  /** Seconds without a byte after which an awaited answer counts as lost; of no session without it. */
  readonly silence: number | undefined
  readonly encryptions: Encryptions
}

/** Milliseconds until the next session may be closed: an unfit database must not cause a storm of connections. */
const closedEvery = 250

/**
 * Two private members of the driver: the socket, and the consumer of an answer that is due. The driver closes a session
 * only after all answers, and those of a connection that a firewall forgot never come.
 */
const Wire = Schema.Struct({ consumer: Schema.Unknown, session: Schema.Struct({ socket: Schema.instanceOf(Socket) }) })
const isWire = Schema.is(Wire)

/** An open session: the bytes that it has received, and for how many checks no answer has come. */
interface Heard {
  readonly wire: typeof Wire.Type
  readonly bytes: number
  readonly silent: number
}

const heardFirst = (connection: PgConnection.PgConnection): Heard => {
  if (isWire(connection)) return { wire: connection, bytes: 0, silent: 0 }
  throw new Error("This version of @effect/sql-pg keeps its sockets elsewhere")
}

const noAnswer = () => Object.assign(new Error("The database does not answer"), { code: "ETIMEDOUT" })

/** Whether a host that answers refused a connection, perhaps for its encryption. */
const isRejected = (error: unknown) =>
  SqlError.isSqlError(error) &&
  error.reason.operation === "connect" &&
  !/ECONNREFUSED|ENOTFOUND|timed out/u.test(`${error.reason.message} ${error.reason.cause}`)

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

const make = Effect.fnUntraced(function* ({ encryptions, isUnfit, silence, transformResultNames, ...others }: Options) {
  let [ssl] = encryptions
  // The driver reads it at each attempt to connect.
  const options = Object.defineProperty(others, "ssl", { enumerable: true, get: () => ssl })
  const scope = yield* Effect.scope
  const heard = new Map<PgConnection.PgConnection, Heard>()
  const open = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    return { own, sessions: yield* Scope.provide(PgPool.make(options), own) }
  })
  let pool = yield* open
  let closedAt = -Infinity

  const close = (connection: PgConnection.PgConnection) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - closedAt < closedEvery) return Effect.void
      closedAt = now
      return pool.sessions.invalidate(connection)
    })
  /** `view` is the session as a transaction has it for itself. */
  const sessionOf = (connection: PgConnection.PgConnection, view = connection) => {
    if (!heard.has(connection)) heard.set(connection, heardFirst(connection))
    return new Session(view, (error) => (isUnfit(error) ? close(connection) : Effect.void))
  }

  /** Destroys the sockets of silent sessions, and returns whether there were any. Counts one more silent check. */
  const endSilent = () => {
    let isAnySilent = false
    for (const [connection, { bytes, silent, wire }] of heard) {
      const { socket } = wire.session
      const checks = wire.consumer !== undefined && socket.bytesRead === bytes ? silent + 1 : 0
      heard.set(connection, { wire, bytes: socket.bytesRead, silent: checks })
      if (socket.destroyed) heard.delete(connection)
      else if (checks >= (silence ?? Infinity)) {
        isAnySilent = true
        socket.destroy(noAnswer())
      }
    }
    return isAnySilent
  }

  /** Replaces the pool, since its other sessions may be silent, too. Their own statements end within a minute. */
  const replace = Effect.gen(function* () {
    const { own } = pool
    pool = yield* open
    yield* Effect.forkIn(Effect.andThen(Effect.sleep("1 minute"), Scope.close(own, Exit.void)), scope)
  })
  // Counts checks and no time: a process that slept has answers to read first.
  const check = Effect.suspend(() => (endSilent() ? replace : Effect.void))
  yield* Effect.forkScoped(Effect.repeat(check, Schedule.spaced("1 second")))

  /** Tries again with the other encryption, if there is one, and keeps it. */
  const connecting = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    if (encryptions.length === 1) return effect
    return Effect.suspend(() => {
      const tried = ssl
      return Effect.catchIf(effect, isRejected, () => {
        if (ssl === tried) ssl = encryptions.find((encryption) => encryption !== tried) ?? ssl
        return effect
      })
    })
  }

  return yield* SqlClient.make({
    acquirer: connecting(Effect.suspend(() => Effect.map(pool.sessions.get, (connection) => sessionOf(connection)))),
    borrower: (use) => connecting(Effect.suspend(() => pool.sessions.use((connection) => use(sessionOf(connection))))),
    transactionAcquirer: connecting(
      Effect.suspend(() =>
        Effect.flatMap(pool.sessions.get, (connection) =>
          Effect.map(connection.pin, (view) => sessionOf(connection, view)),
        ),
      ),
    ),
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
