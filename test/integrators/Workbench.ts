/** An integrator's own folder: tools and libraries as its lock says, and programs beside what the tools generate. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL(".", import.meta.url))

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** No tool calls home, and each runs on the Node that runs the tests. */
const env = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
  NODE_OPTIONS: "",
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  DO_NOT_TRACK: "1",
  SCARF_ANALYTICS: "false",
  NO_COLOR: "1",
}

type Variables = Readonly<Record<string, string>>

const execute = (command: string, args: ReadonlyArray<string>, cwd: string, more: Variables = {}) =>
  new Promise<Ended>((resolve) => {
    execFile(command, [...args], { cwd, env: { ...env, ...more }, maxBuffer: 2 ** 27 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, stdout, stderr }),
    )
  })

/** What must be the same for an installed folder to be taken as it is. */
const wanted = async () => {
  const files = await Promise.all(["package.json", "package-lock.json"].map((name) => readFile(join(folder, name))))
  return createHash("sha256").update(Buffer.concat(files)).digest("hex")
}

/** `npm ci` here, once for each lock; takes about 20 s and 230 MB. */
export const install = async () => {
  const stamp = join(folder, "node_modules", ".installed")
  const hash = await wanted()
  if ((await readFile(stamp, "utf8").catch(() => "")) === hash) return
  process.stdout.write("Installing the linters and generators of test/integrators (npm ci, once) …\n")
  const { code, stderr } = await execute("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"], folder)
  if (code !== 0) throw new Error(`npm ci in test/integrators failed; it needs the npm registry once:\n${stderr}`)
  await writeFile(stamp, hash)
}

/** One of the installed tools. */
export const tool = (name: string, args: ReadonlyArray<string>, cwd: string = folder) =>
  execute(join(folder, "node_modules", ".bin", name), args, cwd)

/** A program under the Node of the tests. */
export const node = (cwd: string, args: ReadonlyArray<string>, more: Variables = {}) =>
  execute(process.execPath, args, cwd, more)

/** A folder of its own with the programs and the installed libraries, and nothing else of this repository. */
export const open = async () => {
  const path = await mkdtemp(join(tmpdir(), "spirit-altar-integrator-"))
  await cp(join(folder, "programs"), path, { recursive: true })
  await symlink(join(folder, "node_modules"), join(path, "node_modules"))
  await writeFile(join(path, "package.json"), JSON.stringify({ private: true, type: "module" }))
  return path
}

export const close = (path: string) => rm(path, { recursive: true, force: true })

const strict = ["--noEmit", "--strict", "--noUncheckedIndexedAccess"]
const modern = ["--target", "es2024", "--module", "nodenext", "--allowImportingTsExtensions", "--skipLibCheck"]

/** TypeScript 5 over programs and all that they import, read once; empty when it has nothing to say. */
export const complaints = async (cwd: string, programs: ReadonlyArray<string>) => {
  const { stdout } = await tool("tsc", [...strict, ...modern, ...programs], cwd)
  return stdout
}
