/** Folders with a lock of their own, installed when they are first needed, so that `npm ci` stays small. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const tools = fileURLToPath(new URL(".", import.meta.url))
export const integrators = fileURLToPath(new URL("../integrators/", import.meta.url))

const stampOf = (folder: string) => join(folder, "node_modules", ".installed")

const wanted = async (folder: string) => {
  const files = await Promise.all(["package.json", "package-lock.json"].map((name) => readFile(join(folder, name))))
  return createHash("sha256").update(Buffer.concat(files)).digest("hex")
}

export const isInstalled = async (folder: string) =>
  (await readFile(stampOf(folder), "utf8").catch(() => "")) === (await wanted(folder))

/** `npm ci` in this folder, once for each lock. */
export const install = async (folder: string) => {
  if (await isInstalled(folder)) return
  process.stderr.write(`Installing ${folder} (npm ci, once) …\n`)
  await new Promise<void>((resolve, reject) => {
    const args = ["ci", "--prefix", folder, "--no-audit", "--no-fund"]
    execFile("npm", args, { cwd: folder, maxBuffer: 2 ** 27 }, (error, _, stderr) =>
      error === null
        ? resolve()
        : reject(new Error(`npm ci in ${folder} failed; it needs the npm registry once:\n${stderr}`)),
    )
  })
  await writeFile(stampOf(folder), await wanted(folder))
}

/** Fails a test that needs the folder, with the command that installs it. */
export const mustBeInstalled = async (folder: string) => {
  if (!(await isInstalled(folder))) throw new Error(`${folder} is not installed: node test/tools/run.ts`)
}
