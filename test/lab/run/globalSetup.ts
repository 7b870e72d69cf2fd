/** One real PostgreSQL for the whole run: `DATABASE_URL` if given, else our own; with a migrated template to copy. */
import { rmSync } from "node:fs"
import { Effect, Layer, Redacted } from "effect"
import postgres from "postgres"
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

const makeTemplate = async (url: string) => {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(`DROP DATABASE IF EXISTS ${template}`)
  await admin.unsafe(`CREATE DATABASE ${template}`)
  const sql = Sql.layer(Redacted.make(withDatabase(url, template)), 1)
  await Effect.runPromise(Effect.provide(Effect.void, Layer.provide(Migrator.layer, sql)))
  // A template with a session cannot be copied.
  await admin.unsafe(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false`)
  await admin.end()
}

export default async function setup(project: TestProject) {
  rmSync(`${project.config.root}/test-results`, { recursive: true, force: true })
  await buildCheckout()
  const given = process.env["DATABASE_URL"]
  const own = given === undefined ? await ownDatabase(false) : undefined
  const url = given ?? own?.url ?? ""
  await makeTemplate(url)
  project.provide("databaseUrl", url)
  return async () => {
    await own?.close()
  }
}
