/** Several servers start at once, of this version and of the one before: each migration has run once, on any server. */
import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { Migrator as EffectMigrator, SqlClient } from "effect/sql"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import * as Migrator from "../../../src/platform/Migrator.ts"
import * as Sql from "../../../src/platform/Sql.ts"
import { emptyDatabase, templateUrl } from "../../lab/Database.ts"
import { live } from "../../lab/Suites.ts"

/** Effect's own migrator, as versions before 0024 had it. */
const before = Layer.effectDiscard(
  EffectMigrator.make({})({
    loader: EffectMigrator.fromRecord(
      Object.fromEntries(Object.entries(Migrator.all).filter(([name]) => name < "0024")),
    ),
  }),
)

/** The URL of a database without a table. */
const empty = Effect.map(Layer.build(emptyDatabase), (made) => Redacted.value(Context.get(made, LocalDatabase).url))

/** As a server does it, on connections of its own. */
const migrateAs = (url: string, version: "this" | "before") =>
  Layer.build(
    Layer.fresh(version === "this" ? Migrator.layer : before).pipe(Layer.provide(Sql.layer(Redacted.make(url), 2))),
  ).pipe(Effect.scoped, Effect.orDie)

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

/** The function of the version before 0024, in its own words. */
const fitsBefore = (name: string) => `
  CREATE FUNCTION ${name}(wallet text, amount numeric, balance numeric, since timestamptz, most integer)
  RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RETURN (SELECT count(*) < most FROM payment_attempts WHERE payer = wallet AND state = 'pending')
      AND amount + (
        SELECT COALESCE(sum(amount_atomic), 0) FROM payment_attempts WHERE payer = wallet AND state = 'pending'
      ) + (
        SELECT COALESCE(sum(amount_atomic), 0) FROM (
          SELECT amount_atomic FROM payment_attempts
          WHERE lower(payer) = wallet AND state = 'settled' AND ended_at > since
          ORDER BY ended_at DESC LIMIT 64
        ) AS settled
      ) <= balance;
  END $$`

/** Wallet `0x0` has nothing, each next one more that is pending, settled or failed, up to more than are looked at. */
const attempts = `
  INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, network, asset, pay_to, payer, nonce,
    amount_atomic, valid_after, valid_before, signature, payload, from_block, state, accepted_at, ended_at, next_check_at)
  SELECT gen_random_uuid(), w || '-' || i, '', '', '', '{}', '', '', '', '0x' || w, w || '-' || i,
    10000 + i, 0, 0, '', '', 0, (ARRAY['pending', 'settled', 'settled', 'failed'])[i % 4 + 1],
    now(), now() - i * interval '1 second', now()
  FROM generate_series(1, 4) w, generate_series(1, w * w * 8) i`

describe("migrations", () => {
  live("run once where three servers of this version and two of the previous one meet an empty database", function* () {
    const url = yield* empty
    const versions = ["this", "before", "this", "before", "this"] as const
    yield* Effect.forEach(versions, (version) => migrateAs(url, version), { concurrency: "unbounded" })
    const made = yield* schemaOf(url)
    assert.deepStrictEqual(made, yield* schemaOf(templateUrl()))
    assert.isTrue(made.some((what) => what.startsWith("payment_fits sql")))
  })

  live("continue from a database of the previous version, which then finds nothing to do", function* () {
    const url = yield* empty
    const database = Sql.layer(Redacted.make(url), 1)
    const run = (statement: string) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(database), Effect.orDie)
    yield* migrateAs(url, "before")
    yield* run(fitsBefore("payment_fits"))
    yield* migrateAs(url, "this")
    yield* migrateAs(url, "before")
    assert.deepStrictEqual(yield* schemaOf(url), yield* schemaOf(templateUrl()))

    // A wallet's balance check is unchanged.
    yield* run(fitsBefore("fits_before"))
    yield* run(attempts)
    const decided = yield* run(`
        SELECT fits_before(w, a, b, s, m) AS before, payment_fits(w, a, b, s, m) AS after
        FROM unnest(ARRAY['0x0', '0x1', '0x2', '0x3', '0x4']) w, unnest(ARRAY[1, 10000]::numeric[]) a,
          unnest(ARRAY[0, 1, 10000, 80027, 170000, 600000, 2000000]::numeric[]) b,
          unnest(ARRAY[now() - interval '1 day', now() - interval '20 seconds', now()]) s, unnest(ARRAY[0, 2, 8, 18, 64]) m`)
    assert.deepStrictEqual(
      new Set(decided.map((row) => Object.values(row).join())),
      new Set(["true,true", "false,false"]),
    )
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
    assert.deepStrictEqual(
      yield* schemaOf(url),
      [
        "effect_sql_migrations.created_at timestamp with time zone NO",
        "effect_sql_migrations.migration_id integer NO",
        "effect_sql_migrations.name text NO",
        "CREATE UNIQUE INDEX effect_sql_migrations_pkey ON public.effect_sql_migrations USING btree (migration_id)",
        "migration 1 one",
        "one.id integer YES",
      ].sort(),
    )
  })
})
