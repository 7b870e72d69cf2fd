/** A database of its own for each test file: a copy of the migrated template, or an empty one, gone afterwards. */
import { randomBytes } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import postgres from "postgres"
import { inject } from "vitest"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { template, withDatabase } from "./Databases.ts"

let administration: postgres.Sql | undefined

/** One connection of this worker makes and drops its databases. */
const admin = (statement: string) =>
  Effect.promise(async () => {
    administration ??= postgres(inject("databaseUrl"), { max: 1, idle_timeout: 5, onnotice: () => {} })
    await administration.unsafe(statement)
  })

const make = Effect.fnUntraced(function* (copied: string) {
  const name = `test_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(admin(`CREATE DATABASE ${name} ${copied}`), () =>
    admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  )
  return LocalDatabase.of({ url: Redacted.make(withDatabase(inject("databaseUrl"), name)) })
})

export const database: Layer.Layer<LocalDatabase> = Layer.effect(LocalDatabase, make(`TEMPLATE ${template}`))

export const emptyDatabase: Layer.Layer<LocalDatabase> = Layer.effect(LocalDatabase, make(""))

/** The tests' own connection to it. */
export const sql = Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => Sql.layer(url, 4)))

/** Runs statements as the owner of the tables. */
export const asOwner = (...statements: ReadonlyArray<string>) =>
  Effect.flatMap(LocalDatabase, ({ url }) =>
    Effect.flatMap(SqlClient.SqlClient, (owner) => Effect.forEach(statements, (text) => owner.unsafe(text))).pipe(
      Effect.provide(Sql.layer(url, 1)),
      Effect.orDie,
    ),
  )

/** A role that may connect and has these grants, and its URL of the database. */
export const newRole = Effect.fnUntraced(function* (...grants: ReadonlyArray<string>) {
  const { url } = yield* LocalDatabase
  const role = `role_${randomBytes(4).toString("hex")}`
  yield* Effect.acquireRelease(
    asOwner(`CREATE ROLE ${role} LOGIN PASSWORD 'hush'`, ...grants.map((grant) => `GRANT ${grant} TO ${role}`)),
    () => asOwner(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`),
  )
  const theirs = new URL(Redacted.value(url))
  theirs.username = role
  theirs.password = "hush"
  return { role, url: theirs.href }
})
