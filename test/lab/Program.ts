/** How a long run begins from the command line: what it is told, what ends it, and the folder it leaves. */
import { chmodSync, mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** What the command line says; a sentence and exit code 2 where it is wrong. */
export const told = <A>(optionsOf: (args: ReadonlyArray<string>) => A): A => {
  try {
    return optionsOf(process.argv.slice(2))
  } catch (cause) {
    console.error(cause instanceof Error ? cause.message : String(cause))
    return process.exit(2)
  }
}

/** Every process that is started ends with this one. */
export const endOnSignals = () => {
  process.setMaxListeners(0)
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
}

/** A folder for logs and a database: the named one, or a new temporary one. */
export const homeOf = (keep: string | undefined, name: string): string => {
  const folder = keep ?? mkdtempSync(join(tmpdir(), `spirit-altar-${name}-`))
  mkdirSync(folder, { recursive: true })
  // The cluster's own user has to reach its folder.
  chmodSync(folder, 0o755)
  return folder
}
