/** Migrates the schema: each migration once, in a transaction of its own, safe when several servers start together. */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import payments from "../../migrations/0001_payments.ts"
import acts from "../../migrations/0002_acts.ts"
import witness from "../../migrations/0003_witness.ts"
import altar from "../../migrations/0004_altar.ts"
import totals from "../../migrations/0005_totals.ts"
import rooms from "../../migrations/0010_rooms.ts"
import limits from "../../migrations/0011_limits.ts"
import cards from "../../migrations/0014_cards.ts"
import lookups from "../../migrations/0015_lookups.ts"
import evidence from "../../migrations/0016_evidence.ts"
import purses from "../../migrations/0017_purses.ts"
import log from "../../migrations/0018_log.ts"
import traces from "../../migrations/0021_traces.ts"
import administration from "../../migrations/0022_administration.ts"
import actNames from "../../migrations/0023_names.ts"
import fits from "../../migrations/0024_fits.ts"
import late from "../../migrations/0026_late.ts"
import networks from "../../migrations/0027_networks.ts"
import refunds from "../../migrations/0030_refunds.ts"
import checkpointRate from "../../migrations/0031_checkpoint_rate.ts"
import actFilters from "../../migrations/0032_act_filters.ts"
import transfers from "../../migrations/0037_transfers.ts"
import { log as report } from "./LogMessages.ts"
import { codeOf, transaction } from "./Sql.ts"

export type Migration = Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>

/** Migrations by number and name, in order. */
export const all: Readonly<Record<string, Migration>> = {
  "0001_payments": payments,
  "0002_acts": acts,
  "0003_witness": witness,
  "0004_altar": altar,
  "0005_totals": totals,
  "0010_rooms": rooms,
  "0011_limits": limits,
  "0014_cards": cards,
  "0015_lookups": lookups,
  "0016_evidence": evidence,
  "0017_purses": purses,
  "0018_log": log,
  "0021_traces": traces,
  "0022_administration": administration,
  "0023_names": actNames,
  "0024_fits": fits,
  "0026_late": late,
  "0027_networks": networks,
  "0030_refunds": refunds,
  "0031_checkpoint_rate": checkpointRate,
  "0032_act_filters": actFilters,
  "0037_transfers": transfers,
}

const applied = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ migration_id: number }>`SELECT migration_id FROM effect_sql_migrations`.withoutTransform,
    (rows) => new Set(rows.map(({ migration_id }) => migration_id)),
  ),
)

const isMade = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ found: boolean }>`SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS found`, (rows) =>
    rows.some(({ found }) => found),
  ),
)

/** SQLSTATE 55P03: a lock was not granted in time. */
const isHeld = (failure: SqlError.SqlError): boolean => codeOf(failure) === "55P03"

/** The table that earlier versions use, so that all versions see which migrations have run. */
const makeTable = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
  CREATE TABLE effect_sql_migrations (
    migration_id integer PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    name text NOT NULL
  )`,
)

/**
 * The row of a migration is its claim. A second server waits for the first one's transaction, then finds the row taken,
 * or free after a rollback. The previous version locks the whole table, and so waits for this row, too.
 */
const once = Effect.fnUntraced(function* (id: number, name: string, migration: Migration) {
  const sql = yield* SqlClient.SqlClient
  const claimed = yield* sql`
    INSERT INTO effect_sql_migrations (migration_id, name) VALUES (${id}, ${name})
    ON CONFLICT (migration_id) DO NOTHING RETURNING migration_id`
  if (claimed.length === 0) return
  // Sales queue behind a migration that waits for a dump or a long transaction, so it gives way and tries again.
  yield* sql`SET LOCAL lock_timeout = '2s'`
  yield* migration
})

/** Runs pending migrations, lowest number first. A current database is only read. */
export const run = Effect.fn("Migrator.run")(function* (migrations: Readonly<Record<string, Migration>>) {
  const inTransaction = yield* transaction
  // If another server creates the table at the same moment, ours fails and theirs is used.
  if (!(yield* isMade)) yield* Effect.catch(makeTable, (refused) => Effect.mapError(applied, () => refused))
  const done = yield* applied
  for (const [file, migration] of Object.entries(migrations).sort(([one], [other]) => one.localeCompare(other))) {
    const [, id, name = ""] = /^(\d+)_(.+)$/u.exec(file) ?? []
    if (done.has(Number(id))) continue
    yield* inTransaction(once(Number(id), name, migration)).pipe(
      Effect.tapError((failure) => (isHeld(failure) ? report("migration waiting", { migration: name }) : Effect.void)),
      Effect.retry({ while: isHeld, schedule: Schedule.spaced("10 seconds") }),
      Effect.withSpan(`Migrator ${name}`),
    )
  }
})

/** Forward only, and safe when several servers start together, including the previous version. */
export const layer = Layer.effectDiscard(run(all))
