/** The lines of docs/proofs.md that check a stone with no code of ours, as their reader runs them. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"

/** Their output for `stone.json` and `proof` in a folder, on stdout and stderr. */
export const run = (folder: string, vkey: string): Promise<ReadonlyArray<string>> => {
  const [, script = ""] = /```bash\n([^]*?)```/u.exec(readFileSync("docs/proofs.md", "utf8")) ?? []
  const own = script.replace(/^vkey=.*$/mu, `vkey='${vkey}'`)
  return new Promise((resolve) => {
    execFile("bash", ["-c", own], { cwd: folder }, (_, stdout, stderr) => resolve((stdout + stderr).trim().split("\n")))
  })
}

/** Their output for a proved stone. */
export const proved = [
  "stone: hashes to its chainHash",
  "Signature Verified Successfully",
  "tree: holds the stone",
] as const
