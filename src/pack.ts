/** `dist/lib` is what `npm pack` packs: compiled from the same sources, laid out as the checkout, so that every path holds. */
import { spawnSync } from "node:child_process"
import { cpSync, rmSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { build } from "./web/build.ts"

const root = join(import.meta.dirname, "..")
const library = join(root, "dist", "lib")

/** The drawings, without what draws them. */
const isServed = (file: string) => ["", ".png", ".svg"].includes(extname(basename(file)))

rmSync(library, { recursive: true, force: true })
await build()
// Node strips no types below `node_modules`, so the packed form is JavaScript, with declarations.
const { status } = spawnSync("tsc", ["--project", "tsconfig.pack.json"], { cwd: root, stdio: "inherit" })
if (status !== 0) process.exit(1)
cpSync(join(root, "dist", "web"), join(library, "dist", "web"), { recursive: true })
cpSync(join(root, "schema", "openapi.json"), join(library, "schema", "openapi.json"))
cpSync(join(root, "src", "web", "art"), join(library, "src", "web", "art"), { recursive: true, filter: isServed })
