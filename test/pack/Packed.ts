/** The programs that pack and install, and what they made. */
import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
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

export const targetsOf = (target: unknown): ReadonlyArray<string> =>
  typeof target === "string" ? [target.replace("./", "")] : Object.values(target ?? {}).flatMap(targetsOf)

export const weightOf = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

/** Account 9 of the test mnemonic in anvil's manual, which the sandbox gives gas; worth nothing on any real chain. */
export const relayerKey = "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6"

/** The declarations that a program reads to use an entry of the package in `folder`. */
export const declarationsOf = async (
  folder: string,
  file: string,
  seen = new Map<string, string>(),
): Promise<ReadonlyMap<string, string>> => {
  const text = await readFile(join(folder, file), "utf8")
  seen.set(file, text)
  for (const [, path = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/gu)) {
    const target = join(dirname(file), `${path}.d.ts`)
    if (!seen.has(target)) await declarationsOf(folder, target, seen)
  }
  return seen
}
