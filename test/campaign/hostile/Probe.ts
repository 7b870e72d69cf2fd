/** Preloaded into the server: at SIGUSR2 it collects, and writes what memory is left in use. */
import { renameSync, writeFileSync } from "node:fs"

const file = process.env["MEMORY_REPORT"] ?? ""
let asked = 0

process.on("SIGUSR2", () => {
  globalThis.gc?.()
  const { external, heapUsed } = process.memoryUsage()
  asked += 1
  writeFileSync(`${file}.new`, JSON.stringify({ asked, heap: heapUsed, external }))
  renameSync(`${file}.new`, file)
})
