// The local database is a real PostgreSQL behind a password, keeps its data, and leaves no process behind.
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { isAlive } from "../lab/Processes.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

const pidOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "cluster", "postmaster.pid"), "utf8").split("\n")[0])
const withSql = <A, E, R>(dataDir: string, use: (sql: PgClient.PgClient) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(PgClient.PgClient, use).pipe(
    Effect.provide(
      Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => PgClient.layer({ url }))).pipe(
        Layer.provide(LocalDatabase.layer({ dataDir, durable: false })),
      ),
      { local: true },
    ),
  )

apart("LocalDatabase", Layer.empty, (it) => {
  it("serves UTF8 and UTC, keeps its data over a restart, and leaves no process", function* () {
    const dataDir = join(newFolder(), "database")
    const pid = yield* withSql(dataDir, (sql) =>
      Effect.gen(function* () {
        const [row] = yield* sql<Record<string, string>>`SELECT
            current_setting('server_encoding') AS encoding, current_setting('timezone') AS zone,
            current_setting('max_connections') AS connections, current_setting('fsync') AS fsync,
            current_setting('listen_addresses') AS address, current_database() AS database`
        assert.deepStrictEqual(row, {
          encoding: "UTF8",
          zone: "UTC",
          connections: "200",
          fsync: "off",
          address: "127.0.0.1",
          database: "altar",
        })
        yield* sql`CREATE TABLE kept (n int)`
        yield* sql`INSERT INTO kept VALUES (7)`
        return pidOf(dataDir)
      }),
    )
    assert.strictEqual(isAlive(pid), false)
    assert.strictEqual(statSync(join(dataDir, "password")).mode & 0o777, 0o600)
    const rows = yield* withSql(dataDir, (sql) => sql`SELECT n FROM kept`)
    assert.deepStrictEqual(rows, [{ n: 7 }])
  })

  it("requires the password", function* () {
    const dataDir = join(newFolder(), "database")
    const error = yield* Effect.gen(function* () {
      const { url } = yield* LocalDatabase
      const wrong = Redacted.make(Redacted.value(url).replace(/postgres:[0-9a-f]+@/, "postgres:guess@"))
      return yield* Effect.flatMap(PgClient.PgClient, (sql) => sql`SELECT 1`).pipe(
        Effect.provide(PgClient.layer({ url: wrong }), { local: true }),
        Effect.flip,
      )
    }).pipe(Effect.provide(LocalDatabase.layer({ dataDir, durable: true }), { local: true }))
    assert.strictEqual(error.reason._tag, "AuthenticationError")
  })

  it("ends another server on its data folder first", function* () {
    const dataDir = join(newFolder(), "database")
    yield* withSql(dataDir, (first) =>
      Effect.gen(function* () {
        const pid = pidOf(dataDir)
        yield* first`CREATE TABLE kept (n int)`
        yield* withSql(dataDir, (second) => second`SELECT n FROM kept`)
        yield* Effect.sync(() => isAlive(pid)).pipe(until("the first server stays", (alive) => !alive))
      }),
    )
  })
})
