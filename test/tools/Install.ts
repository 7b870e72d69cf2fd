/** Folders with a lock of their own, installed when they are first needed, so that `npm ci` stays small. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** The programs of this folder. */
export const tools = fileURLToPath(new URL(".", import.meta.url))

/** The fingerprint of an installed folder. */
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

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** One process at a time, by a file that names it; the file of a process that is gone is taken away. */
const alone = async (file: string, work: () => Promise<void>): Promise<void> => {
  const isOurs = await writeFile(file, String(process.pid), { flag: "wx" }).then(
    () => true,
    () => false,
  )
  if (isOurs) return work().finally(() => rm(file, { force: true }))
  const holder = Number(await readFile(file, "utf8").catch(() => ""))
  if (holder > 0 && !isAlive(holder)) await rm(file, { force: true })
  await setTimeout(200)
  return alone(file, work)
}

/** `npm ci` in this folder, once for each lock, however many ask at once; `what` says at the terminal what the time is for. */
export const install = async (folder: string, what: string, env: NodeJS.ProcessEnv = process.env) => {
  const stamp = join(folder, "node_modules", ".installed")
  const hash = await wanted(folder)
  const isInstalled = async () => (await readFile(stamp, "utf8").catch(() => "")) === hash
  if (await isInstalled()) return
  await alone(join(folder, ".installing"), async () => {
    if (await isInstalled()) return
    process.stderr.write(`Installing ${what} (npm ci, once) …\n`)
    await npmCi(folder, env)
    await writeFile(stamp, hash)
  })
}
