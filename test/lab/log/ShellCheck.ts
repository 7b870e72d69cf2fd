/** The lines of docs/proofs.md that check a stone with no code of ours, as their reader runs them. */
import { readFileSync } from "node:fs"
import { run as start } from "../Process.ts"

/** Their output for `stone.json` and `proof` in a folder, on stdout and stderr. */
export const run = async (folder: string, vkey: string): Promise<ReadonlyArray<string>> => {
  const [, script = ""] = /```bash\n([^]*?)```/u.exec(readFileSync("docs/proofs.md", "utf8")) ?? []
  const own = script.replace(/^vkey=.*$/mu, `vkey='${vkey}'`)
  const { stderr, stdout } = await start(["-c", own], { command: "bash", cwd: folder, env: process.env }).ended
  return (stdout + stderr).trim().split("\n")
}

/** Their output for a proved stone. */
export const proved = [
  "stone: hashes to its chainHash",
  "Signature Verified Successfully",
  "tree: holds the stone",
] as const
