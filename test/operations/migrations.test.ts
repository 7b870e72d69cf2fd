/** Several servers start at once, of this version and of the one before: each migration has run once, on any server. */
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Migrator from "../../src/platform/Migrator.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { database, emptyDatabase } from "../lab/Database.ts"
import { assert, describe, live } from "../lab/Suites.ts"

/** The migrations of 0.15.0. */
const previous = Object.fromEntries(Object.entries(Migrator.all).filter(([name]) => name < "0030"))

const urlOf = (database: Layer.Layer<LocalDatabase>) =>
  Effect.map(Layer.build(database), (made) => Redacted.value(Context.get(made, LocalDatabase).url))

/** The URL of a database without a table. */
const empty = urlOf(emptyDatabase)

/** As a server does it, on connections of its own. */
const migrateAs = (url: string, version: "this" | "before") =>
  Migrator.run(version === "this" ? Migrator.all : previous).pipe(
    Effect.provide(Layer.fresh(Sql.layer(Redacted.make(url), 2))),
    Effect.orDie,
  )

/** Every table, column and index, and every function with its language. */
const schemaOf = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ what: string }>`
      SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS what
        FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
      UNION ALL SELECT p.proname || ' ' || l.lanname || p.prosrc FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = 'public'::regnamespace
      UNION ALL SELECT 'migration ' || migration_id || ' ' || name FROM effect_sql_migrations
      ORDER BY 1`
    return rows.map(({ what }) => what)
  }).pipe(Effect.provide(Sql.layer(Redacted.make(url), 1)), Effect.orDie)

describe("migrations", () => {
  live("run once where three servers of this version and two of the previous one meet an empty database", function* () {
    const url = yield* empty
    const versions = ["this", "before", "this", "before", "this"] as const
    yield* Effect.forEach(versions, (version) => migrateAs(url, version), { concurrency: "unbounded" })
    // One of the previous version then finds nothing to do.
    yield* migrateAs(url, "before")
    assert.deepStrictEqual(yield* schemaOf(url), yield* schemaOf(yield* urlOf(database)))
  })

  live("continue on the next server after one failed in the middle", function* () {
    const url = yield* empty
    const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const table = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`CREATE TABLE one (id int)`))
    const broken = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      table.pipe(
        Effect.andThen(Deferred.succeed(begun, undefined)),
        Effect.andThen(Deferred.await(go)),
        Effect.andThen(Effect.asVoid(sql`SELECT 1 / 0`)),
      ),
    )
    const server = (migration: Migrator.Migration) =>
      Migrator.run({ "0001_one": migration }).pipe(Effect.provide(Sql.layer(Redacted.make(url), 2)), Effect.result)
    const first = yield* Effect.forkChild(server(broken))
    yield* Deferred.await(begun)
    const second = yield* Effect.forkChild(server(table))
    // The second waits for the first one's row.
    const waiting = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    ).pipe(Effect.provide(Sql.layer(Redacted.make(url), 1)))
    yield* Effect.repeat(waiting, { until: (rows) => rows.length === 1 })
    yield* Deferred.succeed(go, undefined)
    assert.strictEqual((yield* Fiber.join(first))._tag, "Failure")
    assert.strictEqual((yield* Fiber.join(second))._tag, "Success")
    assert.includeMembers(yield* schemaOf(url), ["migration 1 one", "one.id integer YES"])
  })
})
