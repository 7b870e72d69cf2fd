/** An agent that knows nothing but a document: it runs the shell blocks as they stand, and no path stands here. */
import { execFile } from "node:child_process"
import { symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import type { Hex } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { newFolder } from "./Folders.ts"

const run = promisify(execFile)

export const programOf = (markdown: string): ReadonlyArray<string> =>
  [...markdown.matchAll(/^```sh\n([\s\S]*?)\n```$/gmu)].map(([, text = ""]) => text)

/** Runs blocks in one shell and returns what they print; `stderr` has every command with its values. Fails with it. */
export const follow = (program: ReadonlyArray<string>, key: Hex = generatePrivateKey()) => {
  const cwd = newFolder()
  symlinkSync(new URL("../../node_modules", import.meta.url).pathname, join(cwd, "node_modules"))
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`
  return run("sh", ["-eux", "-c", program.join("\n")], {
    cwd,
    env: { PATH: path, WALLET_KEY: key, ADDRESS: privateKeyToAddress(key) },
  })
}
