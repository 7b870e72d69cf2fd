/**
 * `npm run package`: packs the bundle and the compiled library reproducibly. The manifest lists only dependencies outside the bundle, so that a server is installed without its build inputs.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { build, external } from "./build.ts"
import { commit } from "./Commit.ts"
import { documents, mcpName } from "./documents.ts"
import { packLibrary } from "./library.ts"

const root = join(import.meta.dirname, "../..")
const library = join(root, "dist", "lib")
const {
  devDependencies: _,
  dependencies,
  private: __,
  scripts: ___,
  allowScripts: ____,
  ...manifest
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** Only programs that use the library need these, in their own version. */
const peers = ["effect", "viem"]

const run = (command: string, args: ReadonlyArray<string>) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const choose = (names: ReadonlyArray<string>, range = "") =>
  Object.fromEntries(names.map((name) => [name, `${range}${dependencies[name]}`]))

/** The drawings, without the programs that draw them. */
const isServed = (file: string) => ["", ".png", ".svg"].includes(extname(basename(file)))

const source = commit()
rmSync(library, { recursive: true, force: true })
await build(pathToFileURL(`${library}/`))
// Node strips no types below `node_modules`, so the library is JavaScript with declarations.
run("tsc", ["--project", "tsconfig.pack.json", "--singleThreaded"])
await packLibrary(root, library)
for (const file of ["start.js", "node.js"]) cpSync(join(root, "src", file), join(library, "src", file))
cpSync(join(root, "schema", "openapi.json"), join(library, "schema", "openapi.json"))
cpSync(join(root, "src", "web", "art"), join(library, "src", "web", "art"), { recursive: true, filter: isServed })
writeFileSync(
  join(library, "package.json"),
  JSON.stringify(
    {
      ...JSON.parse(JSON.stringify(manifest).replaceAll("dist/lib/", "")),
      ...(source === undefined ? {} : { gitHead: source }),
      mcpName,
      files: ["dist", "schema", "src", ...Object.keys(documents)],
      dependencies: choose(external),
      peerDependencies: choose(peers, "^"),
      peerDependenciesMeta: Object.fromEntries(peers.map((name) => [name, { optional: true }])),
    },
    null,
    2,
  ),
)
if (process.argv.includes("--no-archive")) process.exit(0)
cpSync(join(root, "LICENSE"), join(library, "LICENSE"))
for (const [name, text] of Object.entries(documents)) writeFileSync(join(library, name), text)
// An archive keeps file modes, and a checkout's depend on its owner.
for (const entry of readdirSync(library, { recursive: true, withFileTypes: true }))
  chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() || entry.name === "start.js" ? 0o755 : 0o644)
run("npm", ["pack", library, ...process.argv.slice(2)])
