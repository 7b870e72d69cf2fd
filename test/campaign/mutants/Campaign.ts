/** `npm run campaign -- mutants`: puts the faults of `faults.txt` into a copy, one by one, and says which test notices each. */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { newFolder } from "../../lab/Folders.ts"
import { random } from "../../lab/Random.ts"
import { complaintsOf, runTests, type Verdict } from "../../lab/run/Tests.ts"
import { root } from "../Report.ts"
import type { Outcome, Run } from "../Run.ts"

/** One edit of a source, and the tests most likely to notice it. */
interface Mutant {
  /** The missing or wrong behaviour. */
  readonly fault: string
  readonly file: string
  /** Stands in the file exactly once. */
  readonly from: string
  readonly to: string
  /** Tests that are run until one fails; the cheapest first. */
  readonly tests: ReadonlyArray<string>
}

const list = readFileSync(new URL("faults.txt", import.meta.url), "utf8")

/** A paragraph names the fault, its file, the text before and after, and its tests; a line with # is a heading. */
const mutantOf = (paragraph: string): Mutant => {
  const [fault = "", ...lines] = paragraph.split("\n")
  const after = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length))
  const [file = "", ...tests] = after("  ")
  return {
    fault,
    file,
    from: after("- ").join("\n"),
    to: after("+ ").join("\n"),
    tests,
  }
}

export const mutants: ReadonlyArray<Mutant> = list
  .trim()
  .split(/\n{2,}/u)
  .filter((paragraph) => !paragraph.startsWith("#"))
  .map(mutantOf)

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

/** A copy of what is tracked or new; the dependencies are linked. */
const makeScratch = () => {
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

export const mutation = async (run: Run, only: string | undefined): Promise<Outcome> => {
  const { isOver, log } = run
  const faults = drawn(chosen(only), run)
  if (faults.length === 0) return { counts: {}, violations: ["no fault has these words: --list says what there is"] }
  const scratch = makeScratch()
  process.once("exit", scratch.remove)
  const { folder: cwd } = scratch
  // No browser is started for tests that open no page.
  const few = { CHROMIUM_PATH: `${cwd}/none` }
  const args = ["--maxWorkers=2"]
  const bail = ["--bail=1"]
  const violations: Array<string> = []
  // A test that fails without a fault proves nothing.
  const tests = [...new Set(faults.flatMap((one) => one.tests))]
  log(`${tests.length} test files without a fault …`)
  const sound = await runTests(tests, { args: [...args, ...bail], cwd, env: few, minutes: patience.all })
  violations.push(...complaintsOf(sound).map((what) => `without a fault: ${what}`))
  const counts = { faults: 0, noticed: 0 }
  for (const mutant of violations.length > 0 ? [] : faults) {
    if (isOver()) break
    scratch.mutate(mutant)
    const look = (more: ReadonlyArray<string>) =>
      runTests(mutant.tests, { args: [...args, ...more], cwd, env: few, minutes: patience.few })
    const quick = await look(bail)
    // The first failure skips the tests that run beside it, and its own report can be lost with them.
    const verdict = quick.kind === "unknown" ? await look([]) : quick
    scratch.restore(mutant)
    counts.faults += 1
    if (verdict.kind === "failed") counts.noticed += 1
    else violations.push(`${mutant.fault} (${mutant.file}): ${sentence(verdict)}`)
    log(`${mutant.fault}\n         ${mutant.file}: ${sentence(verdict)}`)
  }
  return { counts, violations }
}
