/** An integrator's own folder: tools and libraries as its lock says, and programs beside what the tools generate. */
import { existsSync } from "node:fs"
import { cp, mkdir, symlink, writeFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { newFolder } from "../lab/Folders.ts"
import { run } from "../lab/Process.ts"

/** A folder with a lock of its own, so that `npm ci` stays small. */
const folder = fileURLToPath(new URL(".", import.meta.url))

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

/** Fails a test without the packages, which `npm run test:deep` installs first. */
export const mustBeInstalled = () => {
  if (!existsSync(join(folder, "node_modules")))
    throw new Error("Run npm run pretest:deep, which installs test/integrators")
}

/** The path of a file of a package. */
export const packageFile = (path: string) => join(folder, "node_modules", path)

export const tool = (name: string, args: ReadonlyArray<string>, cwd: string = folder) =>
  run(args, { command: join(folder, "node_modules", ".bin", name), cwd, env }).ended

export const node = (cwd: string, args: ReadonlyArray<string>, more: Variables = {}) =>
  run(args, { cwd, env: { ...env, ...more } }).ended

/** Packages that the checkout has in the same version: they are half of an installation. */
const shared = ["viem", "@x402/evm", "@x402/fetch"]

/** A folder of its own with the programs, the installed libraries and the shared ones, and nothing else of this repository. */
export const open = async () => {
  mustBeInstalled()
  const above = newFolder()
  for (const name of shared) {
    const link = join(above, "node_modules", name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(folder, "../../node_modules", name), link)
  }
  const path = join(above, "bench")
  await cp(join(folder, "programs"), path, { recursive: true })
  await symlink(join(folder, "node_modules"), join(path, "node_modules"))
  await writeFile(join(path, "package.json"), JSON.stringify({ private: true, type: "module" }))
  return path
}

const strict = ["--noEmit", "--strict", "--noUncheckedIndexedAccess"]
const modern = ["--target", "es2024", "--allowImportingTsExtensions", "--skipLibCheck"]
const modules = { node: ["--module", "nodenext"], bundled: ["--module", "esnext", "--moduleResolution", "bundler"] }

/** TypeScript 5 over programs and all that they import, read once; empty when it has nothing to say. */
export const complaints = async (cwd: string, programs: ReadonlyArray<string>, how: keyof typeof modules = "node") => {
  const { stdout } = await tool("tsc", [...strict, ...modern, ...modules[how], ...programs], cwd)
  return stdout
}

/** Bundles a program with its generated client, which Node could not load as it is. */
export const bundle = async (cwd: string, program: string) => {
  const outfile = join(cwd, `${program}.mjs`)
  const entryPoints = [join(cwd, program)]
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" })
  return outfile
}
