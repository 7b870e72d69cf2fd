#!/usr/bin/env node
/** The one way in: an old Node is told so, a checkout is built when its sources changed, and the bundle runs. */
const oldest = 24

const main = async () => {
  const { existsSync } = await import("node:fs")
  const module = await import("node:module")
  const root = new URL("../", import.meta.url)
  // In a folder that cannot be written nothing is kept, and everything works.
  module.enableCompileCache(new URL("dist/cache/", root).pathname)
  process.setSourceMapsEnabled(true)
  // What is packed holds the bundle without its sources.
  if (existsSync(new URL("src/freshness.ts", root))) {
    const { isFresh } = await import("./freshness.ts")
    if (!isFresh(root)) await (await import("./build.ts")).buildCheckout()
  }
  await import(new URL("dist/server/main.js", root).href)
}

if (Number(process.versions.node.split(".")[0]) >= oldest) await main()
else {
  process.stderr.write(
    `Spirit Altar needs Node ${oldest} or newer, and this is ${process.version}: install it, then try again.\n`,
  )
  process.exitCode = 1
}
