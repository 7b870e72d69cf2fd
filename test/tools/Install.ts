/** Folders with a lock of their own, installed when they are first needed: what `npm ci` brings stays small. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The programs of this folder. */
export const tools = fileURLToPath(new URL(".", import.meta.url))

/** What must be the same for an installed folder to be taken as it is. */
const wanted = async (folder: string) => {
  const files = await Promise.all(["package.json", "package-lock.json"].map((name) => readFile(join(folder, name))))
  return createHash("sha256").update(Buffer.concat(files)).digest("hex")
}

const npmCi = (folder: string, env: NodeJS.ProcessEnv) =>
  new Promise<void>((resolve, reject) => {
    const args = ["ci", "--prefix", folder, "--no-audit", "--no-fund"]
    execFile("npm", args, { cwd: folder, env, maxBuffer: 2 ** 27 }, (error, _, stderr) =>
      error === null
        ? resolve()
        : reject(new Error(`npm ci in ${folder} failed; it needs the npm registry once:\n${stderr}`)),
    )
  })

/** `npm ci` in this folder, once for each lock; `what` says at the terminal what the time is for. */
export const install = async (folder: string, what: string, env: NodeJS.ProcessEnv = process.env) => {
  const stamp = join(folder, "node_modules", ".installed")
  const hash = await wanted(folder)
  if ((await readFile(stamp, "utf8").catch(() => "")) === hash) return
  process.stderr.write(`Installing ${what} (npm ci, once) …\n`)
  await npmCi(folder, env)
  await writeFile(stamp, hash)
}
