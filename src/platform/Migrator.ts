/** Migrates the schema at start, safely when several servers start together. A current database is only read. */
import { Effect, Layer, Record, Schedule, Schema } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import payments from "../../migrations/0001_payments.ts"
import altar from "../../migrations/0002_altar.ts"
import stones from "../../migrations/0003_log.ts"
import rooms from "../../migrations/0004_rooms.ts"
import limits from "../../migrations/0005_limits.ts"
import logWaits from "../../migrations/0006_log_waits.ts"
import gasLost from "../../migrations/0007_gas_lost.ts"
import unmatchedPayments from "../../migrations/0008_unmatched_payments.ts"
import wallets from "../../migrations/0009_wallets.ts"
import blockTimes from "../../migrations/0010_block_times.ts"
import claimsTogether from "../../migrations/0011_claims_together.ts"
import { lasting } from "./Lasting.ts"
import { log } from "./LogMessages.ts"
import { codeOf } from "./Sql.ts"

export type Migration = Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>

/** Migrations by number and name, in order. */
export const all: Readonly<Record<string, Migration>> = {
  "0001_payments": payments,
  "0002_altar": altar,
  "0003_log": stones,
  "0004_rooms": rooms,
  "0005_limits": limits,
  "0006_log_waits": Effect.asVoid(logWaits),
  "0007_gas_lost": Effect.asVoid(gasLost),
  "0008_unmatched_payments": Effect.asVoid(unmatchedPayments),
  "0009_wallets": Effect.asVoid(wallets),
  "0010_block_times": Effect.asVoid(blockTimes),
  "0011_claims_together": Effect.asVoid(claimsTogether),
}

const table = "spirit_altar_migrations"

/** The database of a version before 1.0, whose numbers Effect's migrator would take for those of this version. */
export class DatabaseOutdated extends Schema.TaggedError<DatabaseOutdated>()("DatabaseOutdated", {}) {
  override get message() {
    return "This database was made by a version before 1.0, a preview whose data cannot be carried over. Create a new database and set DATABASE_URL to it."
  }
}

/** SQLSTATEs of a migration that another session holds up: a lock not granted in time, and a deadlock. */
const contended = new Set<unknown>(["55P03", "40P01"])

const sqlErrorIn = (failure: unknown): SqlError.SqlError | undefined => {
  const cause = failure instanceof Migrator.MigrationError ? failure.cause : failure
  return SqlError.isSqlError(cause) ? cause : undefined
}

const isContended = (failure: unknown) => {
  const error = sqlErrorIn(failure)
  return error !== undefined && contended.has(codeOf(error))
}

/** The number of the latest migration; 0 without any. */
const latest = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [tables] = yield* sql<{ readonly isOurs: boolean; readonly isOutdated: boolean }>`
    SELECT to_regclass(${table}) IS NOT NULL AS is_ours, to_regclass('effect_sql_migrations') IS NOT NULL AS is_outdated`
  if (tables?.isOurs === true) {
    const [row] = yield* sql<{ readonly latest: number }>`
      SELECT coalesce(max(migration_id), 0)::int AS latest FROM ${sql.literal(table)}`
    return row?.latest ?? 0
  }
  return tables?.isOutdated === true ? yield* new DatabaseOutdated() : 0
})

/** Runs pending migrations in one transaction, lowest number first, and returns their names. */
export const run = Effect.fn("Migrator.run")(function* (migrations: Readonly<Record<string, Migration>>) {
  const sql = yield* SqlClient.SqlClient
  // Sales queue behind a migration that waits for a dump or a long transaction, so it gives way and retries. Its
  // statements may take their time, also behind a PgBouncer that limits all others.
  const limits = sql`SELECT set_config('lock_timeout', '2s', true), set_config('statement_timeout', '0', true)`
  const brief = Record.map(migrations, (migration) => Effect.andThen(limits, migration))
  const loader = Migrator.fromRecord(brief)
  const last = Math.max(...(yield* loader).map(([id]) => id))
  const waiting = lasting()
  const pending = Migrator.make({})({ loader, table })
  return yield* Effect.flatMap(latest, (done) => (done >= last ? Effect.succeed([]) : pending)).pipe(
    Effect.map((made) => made.map(([, name]) => name)),
    Effect.tapError((failure) => (isContended(failure) ? waiting.goesOn("", log("migration waiting")) : Effect.void)),
    Effect.retry({ while: isContended, schedule: Schedule.spaced("10 seconds") }),
    Effect.catchTag("MigrationError", (failure) => Effect.fail(sqlErrorIn(failure) ?? failure)),
  )
})

export const layer = Layer.effectDiscard(run(all))
