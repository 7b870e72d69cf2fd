/** A process that brings the schema of DATABASE_URL up to date: as this version does, or with Effect's own migrator, as those before. */
import { Effect, Layer, Redacted } from "effect"
import { Migrator as EffectMigrator } from "effect/sql"
import * as Migrator from "../../../src/platform/Migrator.ts"
import * as Sql from "../../../src/platform/Sql.ts"

const before = Layer.effectDiscard(
  EffectMigrator.make({})({
    loader: EffectMigrator.fromRecord(
      Object.fromEntries(Object.entries(Migrator.all).filter(([name]) => name < "0024")),
    ),
  }),
)

const database = Sql.layer(Redacted.make(process.env["DATABASE_URL"] ?? ""), 2)
const migrator = process.argv[2] === "before" ? before : Migrator.layer
await Effect.runPromise(Effect.void.pipe(Effect.provide(migrator.pipe(Layer.provide(database)))))
