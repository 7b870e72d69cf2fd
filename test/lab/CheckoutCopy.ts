/** A copy of the checkout, which a test may change. */
import { cpSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { newFolder } from "./Folders.ts"
import { run } from "./Process.ts"
import { root } from "./Sources.ts"

/** The files that git knows, with the checkout's packages; returns its folder. */
export const copyOfCheckout = async () => {
  const copy = newFolder()
  const listed = await run(["ls-files"], { command: "git", cwd: root, env: process.env }).ended
  for (const file of listed.stdout.trim().split("\n")) cpSync(join(root, file), join(copy, file))
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  return copy
}
