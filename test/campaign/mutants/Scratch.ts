/** A copy of the checkout that faults are put into. */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../Report.ts"
import type { Mutant } from "./Mutants.ts"
import { newFolder } from "../../lab/Folders.ts"

/** A copy of what is tracked or new; the dependencies are linked. */
export const makeScratch = () => {
  const folder = newFolder()
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
  for (const file of listed.split("\n").filter((name) => name !== "" && existsSync(join(root, name)))) {
    cpSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  return {
    folder,
    mutate: ({ file, from, to }: Mutant) => {
      const text = readFileSync(join(root, file), "utf8")
      if (text.split(from).length !== 2) throw new Error(`${file} does not have this exactly once: ${from}`)
      writeFileSync(
        join(folder, file),
        text.replace(from, () => to),
      )
    },
    restore: ({ file }: Mutant) => cpSync(join(root, file), join(folder, file)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
