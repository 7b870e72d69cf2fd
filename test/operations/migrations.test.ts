/** Several servers start at once on one database: each migration runs once, and a database before 1.0 is refused. */
import { patience } from "../lab/Patience.ts"
import { assert, describe, it } from "../lab/It.ts"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Migrator from "../../src/platform/Migrator.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { database, emptyDatabase } from "../lab/Database.ts"

const urlOf = (database: Layer.Layer<LocalDatabase>) =>
  Effect.map(Layer.build(database), (made) => Redacted.value(Context.get(made, LocalDatabase).url))

const connected = (url: string) => Effect.provide(Layer.fresh(Sql.layer(Redacted.make(url), 2)))

/** Migrates as a server does, on connections of its own. */
const migrate = (url: string, migrations = Migrator.all) => connected(url)(Migrator.run(migrations))

const run = (url: string, statement: string) =>
  connected(url)(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)))

/** Every table, column and index, every function, and the migrations. */
const schemaOf = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ what: string }>`
      SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS what
        FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
      UNION ALL SELECT p.proname || p.prosrc FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
      UNION ALL SELECT 'migration ' || migration_id || ' ' || name FROM spirit_altar_migrations
      ORDER BY 1`
    return rows.map(({ what }) => what)
  }).pipe(connected(url), Effect.orDie)

describe("migrations", () => {
  it.live("run once where four servers meet an empty database", function* () {
    const url = yield* urlOf(emptyDatabase)
    yield* Effect.forEach([1, 2, 3, 4], () => migrate(url), { concurrency: "unbounded" })
    const schema = yield* schemaOf(url)
    assert.deepStrictEqual(schema, yield* schemaOf(yield* urlOf(database)))
    assert.lengthOf(
      schema.filter((what) => what.startsWith("migration ")),
      Object.keys(Migrator.all).length,
    )
  })

  it.live("leave nothing of a migration that fails, and continue at the next start", function* () {
    const url = yield* urlOf(emptyDatabase)
    const table = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`CREATE TABLE one (id int)`))
    const broken = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`SELECT 1 / 0`))
    const failed = yield* Effect.flip(migrate(url, { "0001_one": table, "0002_two": broken }))
    assert.strictEqual(failed._tag, "SqlError")
    yield* migrate(url, { "0001_one": table })
    assert.includeMembers([...(yield* schemaOf(url))], ["migration 1 one", "one.id integer YES"])
  })

  it.live("wait for no lock on a current database", function* () {
    const url = yield* urlOf(database)
    const held = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`LOCK TABLE spirit_altar_migrations IN SHARE ROW EXCLUSIVE MODE`
      yield* Effect.timeout(migrate(url), patience(5))
    })
    yield* connected(url)(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(held)))
  })

  it.live("leave the old name of unmatched payments to the version that runs beside during an upgrade", function* () {
    const url = yield* urlOf(database)
    const insert = `INSERT INTO payment_strays (name, amount_atomic, transaction, found_at) VALUES ('a', 7, '0x', now())
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING name`
    for (const _ of ["first", "again"]) assert.deepStrictEqual(yield* run(url, insert), [{ name: "a" }])
    assert.lengthOf(yield* run(url, "SELECT recorded_at FROM unmatched_payments"), 1)
    yield* run(url, "DELETE FROM payment_strays s USING payment_totals t WHERE t.id = 1 AND s.name = ANY('{a}')")
    assert.lengthOf(yield* run(url, "SELECT recorded_at FROM unmatched_payments"), 0)
  })

  it.live("refuse a database of a version before 1.0 in a sentence", function* () {
    const url = yield* urlOf(emptyDatabase)
    yield* run(url, "CREATE TABLE effect_sql_migrations (migration_id integer PRIMARY KEY)")
    const refused = yield* Effect.flip(migrate(url))
    assert.strictEqual(refused._tag, "DatabaseOutdated")
    assert.match(refused.message, /^This database was made by a version before 1\.0.*set DATABASE_URL to it\.$/u)
  })
})
