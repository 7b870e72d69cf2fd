/** A copy of the checkout that faults are put into, and its tests run by themselves. */
import { execFileSync, spawn } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Mutant } from "./Mutants.ts"

const root = new URL("../../..", import.meta.url).pathname

/** What became of a run of tests. */
export type Verdict =
  | { readonly kind: "passed"; readonly tests: number }
  /** The tests that failed. */
  | { readonly kind: "failed"; readonly by: ReadonlyArray<string> }
  /** It ended otherwise, or not at all: that proves nothing. */
  | { readonly kind: "unknown"; readonly why: string }

interface Report {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
  }>
}

const isThere = (file: string) => existsSync(join(root, file))

/** A copy of what is tracked or new; the dependencies are linked. */
export const makeScratch = () => {
  const folder = mkdtempSync(join(tmpdir(), "spirit-altar-mutants-"))
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
  for (const file of listed.split("\n").filter((name) => name !== "" && isThere(name))) {
    cpSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))

  /** Runs test files, all of them when none are named, until one test fails. */
  const run = (tests: ReadonlyArray<string>, minutes: number): Promise<Verdict> => {
    const report = join(folder, "report.json")
    rmSync(report, { force: true })
    const args = ["run", ...tests, "--maxWorkers=2", "--bail=1", "--reporter=json", `--outputFile=${report}`]
    // No browser is started for tests that open no page.
    const env = { ...process.env, ...(tests.length === 0 ? {} : { CHROMIUM_PATH: join(folder, "none") }) }
    const program = spawn(process.execPath, [join(folder, "node_modules", "vitest", "vitest.mjs"), ...args], {
      cwd: folder,
      env,
      stdio: "ignore",
      detached: true,
    })
    // Its group ends with it: a database and chains of its own. A test that loops for ever hears nothing but the last word.
    const end = (signal: NodeJS.Signals) => {
      if (program.pid !== undefined && program.exitCode === null) process.kill(-program.pid, signal)
    }
    const leave = () => end("SIGTERM")
    process.once("exit", leave)
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        end("SIGTERM")
        setTimeout(end, 10_000, "SIGKILL").unref()
        resolve({ kind: "unknown", why: `it has not ended after ${minutes} minutes` })
      }, minutes * 60_000)
      program.once("close", (code) => {
        clearTimeout(timer)
        process.off("exit", leave)
        resolve(verdictOf(report, code))
      })
    })
  }

  const mutate = ({ file, from, to }: Mutant) => {
    const text = readFileSync(join(root, file), "utf8")
    if (text.split(from).length !== 2) throw new Error(`${file} does not have this exactly once: ${from}`)
    writeFileSync(
      join(folder, file),
      text.replace(from, () => to),
    )
  }
  const restore = ({ file }: Mutant) => cpSync(join(root, file), join(folder, file))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { run, mutate, restore, remove }
}

const verdictOf = (report: string, code: number | null): Verdict => {
  if (!existsSync(report)) return { kind: "unknown", why: `no report was written, and it ended with ${code}` }
  const { numPassedTests, testResults }: Report = JSON.parse(readFileSync(report, "utf8"))
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName.trim()),
  )
  if (failed.length > 0) return { kind: "failed", by: failed }
  // What keeps a whole file from running is no fault that a test noticed.
  const dead = testResults.filter(({ status }) => status === "failed").map(({ name }) => name)
  if (dead.length > 0) return { kind: "unknown", why: `${dead.join(", ")} cannot begin` }
  return code === 0 && numPassedTests > 0
    ? { kind: "passed", tests: numPassedTests }
    : { kind: "unknown", why: `${numPassedTests} tests passed, and it ended with ${code}` }
}
