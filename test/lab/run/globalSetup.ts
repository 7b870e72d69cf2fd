/** One real PostgreSQL for the whole run: `DATABASE_URL` if given, else our own; with a migrated template to copy. */
import { existsSync } from "node:fs"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { chromium } from "playwright-core"
import type { TestProject } from "vitest/node"
import { ownDatabase, template, withDatabase } from "../Databases.ts"
import * as Migrator from "../../../src/platform/Migrator.ts"
import * as Sql from "../../../src/platform/Sql.ts"
import { buildCheckout } from "../../../src/build/build.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly databaseUrl: string
    /** Where the one browser of the run is reached; empty when there is none. */
    readonly browser: string
  }
}

/** Where Debian keeps them. The same engine without windows takes half of the time to open a page. */
const usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]

/** `CHROMIUM_PATH` if given, else Debian's; said once when there is none. */
const launchBrowser = async () => {
  const given = process.env["CHROMIUM_PATH"]
  const paths = given === undefined ? usual : [given]
  const path = paths.find((one) => existsSync(one))
  if (path !== undefined) return chromium.launchServer({ executablePath: path, args: browserFlags })
  process.stdout.write(
    `No Chromium at ${paths.join(" or ")}: the browser tests are skipped (apt install chromium-headless-shell, or set CHROMIUM_PATH).\n`,
  )
  return undefined
}

/** It calls no other host, and draws without a screen. */
const browserFlags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

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
  )

export default async function setup(project: TestProject) {
  await buildCheckout()
  const browser = await launchBrowser()
  project.provide("browser", browser?.wsEndpoint() ?? "")
  const given = process.env["DATABASE_URL"]
  const own = given === undefined ? await ownDatabase(false) : undefined
  const url = given ?? own?.url ?? ""
  await Effect.runPromise(makeTemplate(url))
  project.provide("databaseUrl", url)
  return async () => {
    await browser?.close()
    await own?.close()
  }
}
