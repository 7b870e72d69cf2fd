/** One real PostgreSQL for the whole run: `DATABASE_URL` if given, else our own; with a migrated template to copy. */
import { rmSync } from "node:fs"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import { ownDatabase, template, withDatabase } from "../Databases.ts"
import * as Migrator from "../../../src/platform/Migrator.ts"
import * as Sql from "../../../src/platform/Sql.ts"
import { buildCheckout } from "../../../src/build/build.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly databaseUrl: string
  }
}

const makeTemplate = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`DROP DATABASE IF EXISTS ${template}`)
    yield* sql.unsafe(`CREATE DATABASE ${template}`)
  }).pipe(
    Effect.provide(Sql.layer(Redacted.make(url), 1)),
    Effect.andThen(
      Effect.void.pipe(
        Effect.provide(Migrator.layer.pipe(Layer.provide(Sql.layer(Redacted.make(withDatabase(url, template)), 1)))),
      ),
    ),
    // A template with a session cannot be copied.
    Effect.andThen(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.unsafe(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false`),
      ).pipe(Effect.provide(Sql.layer(Redacted.make(url), 1))),
    ),
  )

export default async function setup(project: TestProject) {
  rmSync(`${project.config.root}/test-results`, { recursive: true, force: true })
  await buildCheckout()
  const given = process.env["DATABASE_URL"]
  const own = given === undefined ? await ownDatabase(false) : undefined
  const url = given ?? own?.url ?? ""
  await Effect.runPromise(makeTemplate(url))
  project.provide("databaseUrl", url)
  return async () => {
    await own?.close()
  }
}
