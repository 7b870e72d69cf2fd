#!/usr/bin/env node
/** The entry point of every command: builds a checkout whose sources changed, and runs the bundle. */
import "./node.js"

const { existsSync } = await import("node:fs")
const { enableCompileCache } = await import("node:module")
const { fileURLToPath } = await import("node:url")
const { setFlagsFromString } = await import("node:v8")

// A process that ends waits for its compiler threads, and one of these may wait for ever for memory (nodejs/node#54918).
setFlagsFromString("--no-concurrent-sparkplug")

const root = new URL("../", import.meta.url)

// In a read-only folder nothing is cached, and everything works.
enableCompileCache(fileURLToPath(new URL("dist/cache/", root)))
process.setSourceMapsEnabled(true)

// A package holds the bundle without its sources.
if (existsSync(new URL("src/build/freshness.ts", root))) {
  const { isFresh } = await import("./build/freshness.ts")
  if (!isFresh(root)) {
    process.stderr.write("Building the server and its pages: at the first start, and after each change …\n")
    await (await import("./build/build.ts")).buildCheckout()
  }
}

await import(new URL("dist/server/main.js", root).href)
