/** The programs that pack and install, and the content of a packed file. */
import { createHash } from "node:crypto"
import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { gunzipSync } from "node:zlib"
import type * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import * as Process from "../lab/Process.ts"
import { assert } from "@effect/vitest"

/** How a server of the package ends. */
export const stop: OwnedProcess.Stop = { signal: "SIGTERM", force: "SIGKILL", patienceMs: 20_000 }

export const environment = (more: Record<string, string> = {}) => ({
  ...process.env,
  PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  NODE_ENV: "",
  ...more,
})

export const run = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: NodeJS.ProcessEnv = environment(),
) => Process.run(args, { command, cwd, env }).ended

export const npm = async (args: ReadonlyArray<string>, cwd: string) => {
  const ended = await run("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], cwd, process.env)
  assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
  return ended.stdout
}

const root = new URL("../..", import.meta.url).pathname

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** These packages, and all that they need, by the checkout's lock. */
const withDependencies = async (names: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"))
  const packages: Readonly<Record<string, Locked>> = lock.packages
  const all = new Set(names)
  for (const name of all)
    for (const [path, { dependencies = {} }] of Object.entries(packages))
      if (`${path}/`.startsWith(`node_modules/${name}/`))
        for (const one of Object.keys(dependencies)) if (`node_modules/${one}` in packages) all.add(one)
  return [...all]
}

/** Puts the installed package into a folder, beside what a program with the library needs; linked where it can be. */
export const linkLibrary = async (installed: string, folder: string): Promise<void> => {
  const modules = join(root, "node_modules")
  const names = await withDependencies(["effect", "viem", "@types/node"])
  const all = [...names.map((name) => [join(modules, name), name] as const), [installed, "spirit-altar"] as const]
  const lines = all.map(([from, name]) => {
    const to = join(folder, "node_modules", name)
    return `mkdir -p '${dirname(to)}' && { cp -al '${from}' '${to}' 2>&- || { rm -rf '${to}' && cp -a '${from}' '${to}'; }; }`
  })
  const { code, stderr } = await run("sh", ["-ec", lines.join("\n")], modules)
  assert.strictEqual(code, 0, stderr)
}

export const targetsOf = (target: unknown): ReadonlyArray<string> =>
  typeof target === "string" ? [target.replace("./", "")] : Object.values(target ?? {}).flatMap(targetsOf)

export const contentsOf = async (archive: string) => {
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
  const bytes = gunzipSync(await readFile(archive))
  const text = (from: number, length: number) => bytes.toString("latin1", from, from + length).replace(/\0.*$/su, "")
  const entries: Array<readonly [name: string, mode: string, digest: string]> = []
  for (let at = 0; bytes[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12), 8)
    const content = bytes.subarray(at + 512, at + 512 + size)
    entries.push([`${text(at + 345, 155)}/${text(at, 100)}`, text(at + 100, 8), sha256(content)])
    at += 512 + Math.ceil(size / 512) * 512
  }
  return { entries, whole: sha256(await readFile(archive)) }
}

export const statementOf = async (archive: string) =>
  JSON.parse(await readFile(archive.replace(/\.tgz$/u, ".provenance.json"), "utf8"))

export const digestOf = (algorithm: "sha256" | "sha512", bytes: Uint8Array) =>
  createHash(algorithm).update(bytes).digest("hex")

export const weightOf = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

/** Account 9 of the test mnemonic in anvil's manual, which the sandbox gives gas; worth nothing on any real chain. */
export const relayerKey = "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"
