/**
 * Runs a program of this folder where the caller stands: `node test/tools/run.ts oxlint --deny-warnings`. Without a program it
 * installs what the deep tests need.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { install, integrators, tools } from "./Install.ts"

const [name, ...args] = process.argv.slice(2)
await install(tools)
if (name === undefined) await install(integrators)
else
  spawn(join(tools, "node_modules", ".bin", name), args, { stdio: "inherit" }).on("close", (code) => {
    process.exitCode = code ?? 1
  })
