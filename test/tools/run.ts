/** Runs a program of this folder where the caller stands: `node test/tools/run.ts oxlint --deny-warnings`. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { install, tools } from "./Install.ts"

const [name = "", ...args] = process.argv.slice(2)
await install(tools, "the programs of test/tools, 240 MB")
spawn(join(tools, "node_modules", ".bin", name), args, { stdio: "inherit" }).on("close", (code) => {
  process.exitCode = code ?? 1
})
