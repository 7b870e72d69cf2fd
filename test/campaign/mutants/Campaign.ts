/** `npm run campaign -- mutants`: puts deliberate faults into a copy, one by one, and says which test notices each. */
import { random } from "../../lab/Random.ts"
import { complaintsOf, runTests, type Verdict } from "../../lab/run/Tests.ts"
import type { Outcome, Run } from "../Run.ts"
import { type Mutant, mutants } from "./Mutants.ts"
import { makeScratch } from "./Scratch.ts"

/** Minutes after which a run proves nothing: of a few files, and of all files that are named. */
const patience = { few: 6, all: 60 }

const chosen = (only: string | undefined): ReadonlyArray<Mutant> =>
  mutants.filter(({ fault, file }) => only === undefined || `${fault} ${file}`.includes(only))

export const listed = (only: string | undefined) =>
  chosen(only)
    .map(({ fault, file, tests }) => `${fault}\n  ${file} → ${tests.join(", ")}`)
    .join("\n")

const sentence = (verdict: Verdict) => {
  if (verdict.kind === "failed") return verdict.by[0]
  return verdict.kind === "passed" ? "NOBODY" : `NO VERDICT: ${verdict.why}`
}

/** As many of them as are wanted, drawn by the seed, in their order. */
const drawn = (all: ReadonlyArray<Mutant>, { seed, size }: Run) => {
  const chance = random(`mutants/${seed}`)
  const left = [...all]
  while (left.length > size) left.splice(chance.below(left.length), 1)
  return left
}

export const mutation = async (run: Run, only: string | undefined): Promise<Outcome> => {
  const { isOver, log } = run
  const faults = drawn(chosen(only), run)
  if (faults.length === 0) return { counts: {}, violations: ["no fault has these words: --list says what there is"] }
  const scratch = makeScratch()
  process.once("exit", scratch.remove)
  const { folder: cwd } = scratch
  // No browser is started for tests that open no page.
  const few = { CHROMIUM_PATH: `${cwd}/none` }
  const args = ["--maxWorkers=2", "--bail=1"]
  const violations: Array<string> = []
  // A test that fails without a fault proves nothing.
  const tests = [...new Set(faults.flatMap((one) => one.tests))]
  log(`${tests.length} test files without a fault …`)
  const sound = await runTests(tests, { args, cwd, env: few, minutes: patience.all })
  violations.push(...complaintsOf(sound).map((what) => `without a fault: ${what}`))
  const counts = { faults: 0, noticed: 0 }
  for (const mutant of violations.length > 0 ? [] : faults) {
    if (isOver()) break
    scratch.mutate(mutant)
    const verdict = await runTests(mutant.tests, { args, cwd, env: few, minutes: patience.few })
    scratch.restore(mutant)
    counts.faults += 1
    if (verdict.kind === "failed") counts.noticed += 1
    else violations.push(`${mutant.fault} (${mutant.file}): ${sentence(verdict)}`)
    log(`${mutant.fault}\n         ${mutant.file}: ${sentence(verdict)}`)
  }
  return { counts, violations }
}
