/** Tests run against a real PostgreSQL, a real chain and a real browser. */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { ownTemporaryFolder } from "./test/lab/Folders.ts"
import { LongestFirst } from "./test/lab/run/LongestFirst.ts"
import { deep, fast } from "./test/lab/run/Projects.ts"

ownTemporaryFolder()

/** Tests with a database, and with a chain or a browser where they ask for one; `together` says how many of a file at once. */
const whole = (name: string, minutes: number, include: Array<string>, exclude: Array<string>, together: number) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: [...exclude, "**/node_modules/**"],
    globalSetup: ["test/lab/run/globalSetup.ts"],
    setupFiles: ["test/lab/run/validateAnswers.ts"],
    testTimeout: 60_000 * minutes,
    hookTimeout: 60_000 * minutes,
    maxConcurrency: together,
  },
})

/** `npm test` leaves the deep tests out, unless a file is named: it may be of any kind. */
const isDeep = process.argv
  .slice(2)
  .some((one) => one === "deep" || one.startsWith("--project=deep") || /^(?!-).*(?:\/|\.ts)/u.test(one))

export default defineConfig({
  test: {
    // Reading the code costs more than most files' tests: a worker reads it once.
    isolate: false,
    // Half of the time they wait, deep ones even longer: for blocks, for polls, for processes that start.
    maxWorkers: (isDeep ? 3 : 2) * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    // Each server leaves megabytes behind: the first collection of old objects can wait.
    execArgv: ["--initial-heap-size=400"],
    silent: "passed-only",
    coverage: {
      include: ["src/**/*.ts", "schema/**/*.ts"],
      reporter: ["text", "html"],
    },
    projects: [
      { extends: true, test: { name: "fast", include: fast, testTimeout: 120_000, hookTimeout: 120_000 } },
      whole("core", 5, ["test/**/*.test.ts"], [...fast, ...deep], 5),
      // Most of these wait for a bound.
      ...(isDeep ? [whole("deep", 15, deep, [], 8)] : []),
    ],
  },
})
