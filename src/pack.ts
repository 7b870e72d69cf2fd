/** `dist/lib` is what `npm pack` packs: the bundle that a checkout runs too, and the library compiled beside it. */
import { spawnSync } from "node:child_process"
import { cpSync, rmSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "./build.ts"

const root = join(import.meta.dirname, "..")
const library = join(root, "dist", "lib")

/** The drawings, without what draws them. */
const isServed = (file: string) => ["", ".png", ".svg"].includes(extname(basename(file)))

rmSync(library, { recursive: true, force: true })
await build(pathToFileURL(`${library}/`))
// Node strips no types below `node_modules`, so the library is JavaScript, with declarations.
const { status } = spawnSync("tsc", ["--project", "tsconfig.pack.json"], { cwd: root, stdio: "inherit" })
if (status !== 0) process.exit(1)
for (const file of ["start.js", "node.js"]) cpSync(join(root, "src", file), join(library, "src", file))
cpSync(join(root, "schema", "openapi.json"), join(library, "schema", "openapi.json"))
cpSync(join(root, "src", "web", "art"), join(library, "src", "web", "art"), { recursive: true, filter: isServed })
