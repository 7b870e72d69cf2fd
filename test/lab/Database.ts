/** A database of its own for each test file: a copy of the migrated template, or an empty one, gone afterwards. */
import { randomBytes } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { template, withDatabase } from "./Databases.ts"

const admin = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(Sql.layer(Redacted.make(inject("databaseUrl")), 1)),
    Effect.orDie,
  )

const make = Effect.fnUntraced(function* (copied: string) {
  const name = `test_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(admin(`CREATE DATABASE ${name} ${copied}`), () =>
    admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  )
  return LocalDatabase.of({ url: Redacted.make(withDatabase(inject("databaseUrl"), name)) })
})

export const database: Layer.Layer<LocalDatabase> = Layer.effect(LocalDatabase, make(`TEMPLATE ${template}`))

/** Without a table. */
export const emptyDatabase: Layer.Layer<LocalDatabase> = Layer.effect(LocalDatabase, make(""))

/** The template itself, to compare with. */
export const templateUrl = () => withDatabase(inject("databaseUrl"), template)

/** The tests' own connection to it. */
export const sql = Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => Sql.layer(url, 4)))
