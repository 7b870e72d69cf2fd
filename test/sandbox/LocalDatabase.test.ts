// The local database is a real PostgreSQL behind a password, keeps its data, and leaves no process behind.
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { isAlive } from "../lab/Processes.ts"
import { until } from "../lab/Eventually.ts"
import { assert, suite } from "../lab/Suites.ts"
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

suite("LocalDatabase", Layer.empty, (it) => {
  const dataDir = join(newFolder(), "database")

  it("serves UTF8 and UTC to those who know the password, and leaves no process", function* () {
    const pid = yield* Effect.gen(function* () {
      const { url } = yield* LocalDatabase
      const ask = (at: typeof url) =>
        Effect.flatMap(
          PgClient.PgClient,
          (sql) => sql<Record<string, string>>`SELECT
            current_setting('server_encoding') AS encoding, current_setting('timezone') AS zone,
            current_setting('max_connections') AS connections, current_setting('fsync') AS fsync,
            current_setting('listen_addresses') AS address, current_database() AS database`,
        ).pipe(Effect.provide(PgClient.layer({ url: at }), { local: true }))
      const settings = { encoding: "UTF8", zone: "UTC", connections: "200", fsync: "on", address: "127.0.0.1" }
      assert.deepStrictEqual(yield* ask(url), [{ ...settings, database: "altar" }])
      const wrong = Redacted.make(Redacted.value(url).replace(/postgres:[0-9a-f]+@/, "postgres:guess@"))
      assert.strictEqual((yield* Effect.flip(ask(wrong))).reason._tag, "AuthenticationError")
      return pidOf(dataDir)
    }).pipe(Effect.provide(LocalDatabase.layer({ dataDir, durable: true }), { local: true }))
    assert.strictEqual(isAlive(pid), false)
    assert.strictEqual(statSync(join(dataDir, "password")).mode & 0o777, 0o600)
  })

  it("keeps its data over a restart, and ends another server on its data folder first", function* () {
    yield* withSql(dataDir, (first) =>
      Effect.gen(function* () {
        const pid = pidOf(dataDir)
        yield* first`CREATE TABLE kept (n int)`
        yield* first`INSERT INTO kept VALUES (7)`
        const [kept] = yield* withSql(
          dataDir,
          (second) => second`SELECT n, current_setting('fsync') AS fsync FROM kept`,
        )
        assert.deepStrictEqual(kept, { n: 7, fsync: "off" })
        yield* Effect.sync(() => isAlive(pid)).pipe(until("the first server stays", (alive) => !alive))
      }),
    )
  })
})
