/** Runs test files in a process of their own, and says which tests failed. */
import { spawn } from "node:child_process"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { newFolder } from "../Folders.ts"

const root = new URL("../../..", import.meta.url).pathname

/** The result of a run of tests. */
export type Verdict =
  | { readonly kind: "passed"; readonly tests: number }
  /** The tests that failed, with what they say. */
  | { readonly kind: "failed"; readonly by: ReadonlyArray<string>; readonly says: ReadonlyArray<string> }
  /** It ended otherwise, or not at all: that proves nothing. */
  | { readonly kind: "unknown"; readonly why: string }

export interface TestsOptions {
  /** Further arguments of vitest. */
  readonly args?: ReadonlyArray<string>
  /** A checkout; this one where none is named. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Whether its output is shown. */
  readonly isHeard?: boolean
  /** Minutes after which a run proves nothing. */
  readonly minutes?: number
}

interface Report {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly fullName: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

const verdictOf = (report: string, code: number | null): Verdict => {
  if (!existsSync(report)) return { kind: "unknown", why: `no report was written, and it ended with ${code}` }
  const { numPassedTests, testResults }: Report = JSON.parse(readFileSync(report, "utf8"))
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "failed"),
  )
  if (failed.length > 0) {
    const by = failed.map(({ fullName }) => fullName.trim())
    const messageOf = ([first = ""]: ReadonlyArray<string>) => first.replaceAll(/\n\s+at [^\n]*/gu, "")
    return { kind: "failed", by, says: failed.map((one, at) => `${by[at]}: ${messageOf(one.failureMessages)}`) }
  }
  // A file that cannot run has noticed no fault.
  const dead = testResults.filter(({ status }) => status === "failed").map(({ name }) => name)
  if (dead.length > 0) return { kind: "unknown", why: `${dead.join(", ")} cannot begin` }
  return code === 0 && numPassedTests > 0
    ? { kind: "passed", tests: numPassedTests }
    : { kind: "unknown", why: `${numPassedTests} tests passed, and it ended with ${code}` }
}

/** Runs these files, all of them when none are named. */
export const runTests = (
  files: ReadonlyArray<string>,
  { args = [], cwd = root, env = {}, isHeard = false, minutes }: TestsOptions,
): Promise<Verdict> => {
  const folder = newFolder()
  const report = join(folder, "report.json")
  const reporters = [...(isHeard ? ["--reporter=default"] : []), "--reporter=json", `--outputFile.json=${report}`]
  const program = spawn(
    process.execPath,
    [join(cwd, "node_modules", "vitest", "vitest.mjs"), "run", ...files, ...args, ...reporters],
    { cwd, env: { ...process.env, ...env }, stdio: isHeard ? "inherit" : "ignore", detached: true },
  )
  // Its group ends with it: a database and chains of its own. A test that loops for ever hears nothing but the last word.
  const end = (signal: NodeJS.Signals) => {
    if (program.pid !== undefined && program.exitCode === null) process.kill(-program.pid, signal)
  }
  const leave = () => end("SIGTERM")
  process.once("exit", leave)
  return new Promise((resolve) => {
    const finish = (verdict: Verdict) => {
      process.off("exit", leave)
      rmSync(folder, { recursive: true, force: true })
      resolve(verdict)
    }
    const timer =
      minutes === undefined
        ? undefined
        : setTimeout(() => {
            end("SIGTERM")
            setTimeout(end, 10_000, "SIGKILL").unref()
            finish({ kind: "unknown", why: `it has not ended after ${minutes} minutes` })
          }, minutes * 60_000)
    program.once("close", (code) => {
      clearTimeout(timer)
      finish(verdictOf(report, code))
    })
  })
}

/** Sentences about what went wrong; none where all passed. */
export const complaintsOf = (verdict: Verdict): ReadonlyArray<string> =>
  verdict.kind === "failed" ? verdict.says : verdict.kind === "unknown" ? [verdict.why] : []
