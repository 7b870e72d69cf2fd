/** Two fresh databases on one durable PostgreSQL, one for each side: the one that is given or `DATABASE_URL`, else our own in a temporary folder. */
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { dataFolder, newFolder } from "./Folders.ts"
import { started } from "./Started.ts"

export type Databases = Awaited<ReturnType<typeof open>>

/** The database every test database is copied from. */
export const template = "altar_template"

/** The same server, another database. */
export const withDatabase = (url: string, name: string) => {
  const copy = new URL(url)
  copy.pathname = `/${name}`
  return copy.href
}

/** A PostgreSQL in a folder that goes with this process. */
export const ownDatabase = async (durable: boolean) => {
  const layer = LocalDatabase.layer({ dataDir: join(durable ? newFolder() : dataFolder(), "postgres"), durable })
  const { close, service } = await started(LocalDatabase, layer)
  return { url: Redacted.value(service.url), close }
}

const about = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly about: string }>`
    SELECT 'PostgreSQL ' || current_setting('server_version') || ', fsync ' || current_setting('fsync')
      || ', synchronous_commit ' || current_setting('synchronous_commit') AS about`
  return row?.about ?? ""
})

export const open = async (given = process.env["DATABASE_URL"]) => {
  const own = given === undefined ? await ownDatabase(true) : undefined
  const url = given ?? own?.url ?? ""
  const admin = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.runPromise(Effect.provide(effect, Sql.layer(Redacted.make(url), 1)))
  const run = (statement: string) => admin(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)))

  const suffix = randomBytes(4).toString("hex")
  const names = [`bench_ours_${suffix}`, `bench_peer_${suffix}`] as const
  for (const name of names) await run(`CREATE DATABASE ${name}`)
  return {
    ours: withDatabase(url, names[0]),
    peer: withDatabase(url, names[1]),
    /** PostgreSQL's own identity: version, and whether a commit waits for the disk. */
    about: await admin(about),
    close: async () => {
      if (given !== undefined) for (const name of names) await run(`DROP DATABASE ${name} WITH (FORCE)`)
      await own?.close()
    },
  }
}
