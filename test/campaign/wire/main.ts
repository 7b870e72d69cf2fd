/** `npm run mutants`: breaks promises of the wire one after the other; exit code 1 means that no test noticed one. */
import { parseArgs } from "node:util"
import { endOnSignals, ownTemporaryFolder } from "../../lab/Folders.ts"
import { seek } from "../Faults.ts"
import { mutants } from "./promises.ts"

const help = `Usage: npm run mutants [-- --only WORD]

Falsifies answers at the HTTP boundary, a promise at a time, and runs the tests that hold it. Exit code 1 means that a
promise was broken and no test noticed.

  --only WORD   promises with this word in them

Example: npm run mutants -- --only Retry-After`

const { values } = parseArgs({ options: { help: { type: "boolean" }, only: { type: "string", default: "" } } })
if (values.help === true) {
  console.log(help)
  process.exit()
}

ownTemporaryFolder()
endOnSignals()
const chosen = mutants.filter(({ promise }) => promise.includes(values.only))
const missed = await seek(
  import.meta.dirname,
  chosen.map(({ promise, tests }) => ({ fault: promise, tests })),
)
process.exit(missed > 0 ? 1 : 0)
