/** Temporary folders of a run, which are all inside one that ends with it, however many processes were killed on the way. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, mkdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The machine's own folder for temporary files; the processes of a run are told. */
const outside = "SPIRIT_ALTAR_TMPDIR"

/** Every user may pass through it, as PostgreSQL's must when the tests run as root. */
const folderIn = (place: string, name: string) => {
  const folder = mkdtempSync(join(place, `spirit-altar-${name}-`))
  chmodSync(folder, 0o755)
  return folder
}

const removeAtExit = (folder: string) => {
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** From now on this process and all that it starts have a temporary folder of their own, which goes with this process. */
export const ownTemporaryFolder = () => {
  process.env[outside] ??= tmpdir()
  process.env["TMPDIR"] = removeAtExit(folderIn(tmpdir(), "run"))
}

/** A new folder, which is removed with the run. */
export const newFolder = () => folderIn(tmpdir(), "test")

const memory = "/dev/shm"

const hasMemory = () => {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= 2 ** 31
}

/** A new folder for data alone: in memory where there are 2 GiB, since some disks need 0.2 s for a database of 500 files. */
export const dataFolder = () => (hasMemory() ? removeAtExit(folderIn(memory, "data")) : newFolder())

/** A new folder that outlives the run, for the logs of what went wrong. */
export const lastingFolder = (name: string) => folderIn(process.env[outside] ?? tmpdir(), name)

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
