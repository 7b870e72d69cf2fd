/** How a long run ends with its processes, and the folder it leaves. */
import { chmodSync, mkdirSync } from "node:fs"
import { lastingFolder } from "./Folders.ts"

/** Every process that is started ends with this one. */
export const endOnSignals = () => {
  process.setMaxListeners(0)
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
}

/** A folder for logs and a database: the named one, or a new temporary one. */
export const homeOf = (keep: string | undefined, name: string): string => {
  const folder = keep ?? lastingFolder(name)
  mkdirSync(folder, { recursive: true })
  // The cluster's own user has to reach its folder.
  chmodSync(folder, 0o755)
  return folder
}
