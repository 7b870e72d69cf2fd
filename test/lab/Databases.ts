/** The URL of a database, and a PostgreSQL of this process. */
import { join } from "node:path"
import { Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { dataFolder, newFolder } from "./Folders.ts"
import { started } from "./Started.ts"

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
