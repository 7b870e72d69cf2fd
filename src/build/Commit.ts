/** The commit of a build. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

const heard = (...args: ReadonlyArray<string>) => {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" })
  return status === 0 ? stdout.trim() : undefined
}

/** `SOURCE_COMMIT` in builds without a repository; otherwise git's answer for this very folder, if unchanged. */
export const commit = (): string | undefined => {
  const declared = process.env["SOURCE_COMMIT"]
  if (declared !== undefined) return /^[0-9a-f]{40}$/u.test(declared) ? declared : undefined
  const isClean = heard("rev-parse", "--show-prefix") === "" && heard("status", "--porcelain") === ""
  return isClean ? heard("rev-parse", "HEAD") : undefined
}
