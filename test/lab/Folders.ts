/** Temporary folders of a run, which are all inside one that ends with it, however many processes were killed on the way. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
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

/** From now on this process and all that it starts have a temporary folder of their own, which goes with this process. */
export const ownTemporaryFolder = () => {
  process.env[outside] ??= tmpdir()
  const folder = folderIn(tmpdir(), "run")
  process.env["TMPDIR"] = folder
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}

/** A new folder, which is removed with the run. */
export const newFolder = () => folderIn(tmpdir(), "test")

/** A new folder that outlives the run, for the logs of what went wrong. */
export const lastingFolder = (name: string) => folderIn(process.env[outside] ?? tmpdir(), name)
