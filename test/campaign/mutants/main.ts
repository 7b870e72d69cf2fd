/** `npm run mutants`: puts deliberate faults into a copy, one by one, and says which test notices each. */
import { parseArgs } from "node:util"
import { mutants } from "./Mutants.ts"
import { makeScratch, type Verdict } from "./Scratch.ts"

const help = `Usage: npm run mutants [-- --only WORDS] [--list] [--all] [--no-baseline]

Puts ${mutants.length} deliberate faults into a copy of the checkout, one after the other, runs the few tests most likely to notice
each, and says which one did. Exit code 1 when a fault is noticed by nobody.

  --only WORDS    only faults or files that have these words
  --list          says what there is and runs nothing
  --all           runs the whole suite where those few tests notice nothing
  --stories       plays stories instead of those tests, for the faults that a story has to notice
  --runs N        so many stories for each (12)
  --seed N        of the stories (3)
  --no-baseline   does not run the tests without a fault first; what fails without one proves nothing
  --help          this text
`

const { values } = parseArgs({
  options: {
    all: { type: "boolean" },
    "no-baseline": { type: "boolean" },
    help: { type: "boolean" },
    list: { type: "boolean" },
    only: { type: "string" },
    runs: { type: "string", default: "12" },
    seed: { type: "string", default: "3" },
    stories: { type: "boolean", default: false },
  },
})

if (values.help === true) {
  console.log(help)
  process.exit(0)
}

const { only } = values
const chosen = mutants
  .filter(({ fault, file }) => only === undefined || `${fault} ${file}`.includes(only))
  .filter(({ stories }) => !values.stories || stories !== undefined)
if (chosen.length === 0) {
  console.error(`No fault has the words ${only}; --list says what there is.`)
  process.exit(2)
}
if (values.list === true) {
  for (const { fault, file, tests } of chosen) console.log(`${fault}\n  ${file} → ${tests.join(", ")}`)
  process.exit(0)
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
const scratch = makeScratch()
process.once("exit", scratch.remove)

/** Minutes after which a run proves nothing, of a few files, of stories and of all. */
const patience = { few: 6, stories: 20, all: 60 }

if (values.stories)
  Object.assign(process.env, { STATEFUL_RUNS: values.runs, STATEFUL_SEED: values.seed, STATEFUL_SHRINKS: "0" })

/** Stories of a fault's kind are named by it. */
const storiesOf = (kind = "") => ["test/campaign/stories/altar.test.ts", "-t", `says: ${kind}`]

if (values["no-baseline"] !== true && !values.stories) {
  const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))]
  console.log(`${tests.length} test files without a fault …`)
  const verdict = await scratch.run(tests, patience.all)
  if (verdict.kind !== "passed") {
    console.error(`They do not pass: ${verdict.kind === "failed" ? verdict.by.join("; ") : verdict.why}`)
    process.exit(1)
  }
  console.log(`${verdict.tests} tests pass\n`)
}

const sentence = (verdict: Verdict) => {
  if (verdict.kind === "failed") return verdict.by[0]
  return verdict.kind === "passed" ? "NOBODY" : `NO VERDICT: ${verdict.why}`
}

let survivors = 0
for (const mutant of chosen) {
  scratch.mutate(mutant)
  const few = values.stories
    ? await scratch.run(storiesOf(mutant.stories), patience.stories)
    : await scratch.run(mutant.tests, patience.few)
  const verdict = few.kind === "failed" || values.all !== true ? few : await scratch.run([], patience.all)
  scratch.restore(mutant)
  if (verdict.kind !== "failed") survivors += 1
  console.log(`${mutant.fault}\n  ${mutant.file}: ${sentence(verdict)}`)
}
console.log(`\n${chosen.length - survivors} of ${chosen.length} faults were noticed`)
process.exitCode = survivors > 0 ? 1 : 0
