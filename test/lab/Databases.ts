/** The URL of a database, and a PostgreSQL of this process. */
import { join } from "node:path"
import { Redacted, Context, Effect, Exit, Layer, Scope } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { dataFolder, newFolder } from "./Folders.ts"

/** The database every test database is copied from. */
export const template = "altar_template"

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

/** Builds a layer; its service ends with `close`. */
export const started = async <I, S, E>(key: Context.Key<I, S>, layer: Layer.Layer<I, E>) => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    return { service: Context.get(context, key), close }
  } catch (cause) {
    await close()
    throw cause
  }
}
