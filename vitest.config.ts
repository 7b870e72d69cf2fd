/** Tests run against a real PostgreSQL, a real chain and a real browser. */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import FileOrder from "./test/lab/run/FileOrder.ts"
import { ownTemporaryFolder } from "./test/lab/Folders.ts"
import { patience } from "./test/lab/Patience.ts"
import { deep, fast } from "./test/lab/run/Projects.ts"

ownTemporaryFolder()

/** Tests with a database, and with a chain or a browser where they ask for one. */
const whole = (name: string, minutes: number, include: Array<string>, exclude: Array<string> = []) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: [...exclude, "**/node_modules/**"],
    globalSetup: ["test/lab/run/globalSetup.ts"],
    setupFiles: ["test/lab/run/validateAnswers.ts"],
    testTimeout: patience(60 * minutes),
    hookTimeout: patience(60 * minutes),
  },
})

export default defineConfig({
  test: {
    // Reading the code costs more than most files' tests: a worker reads it once.
    isolate: false,
    // Half of the time they wait: for blocks, for polls, for processes that start.
    maxWorkers: 2 * availableParallelism(),
    // Each server leaves megabytes behind: the first collection of old objects can wait.
    execArgv: ["--initial-heap-size=400"],
    silent: "passed-only",
    reporters: ["default", "./test/lab/run/FailureReporter.ts"],
    sequence: { sequencer: FileOrder },
    coverage: {
      include: ["src/**/*.ts", "schema/**/*.ts"],
      reporter: ["text", "html"],
    },
    projects: [
      { extends: true, test: { name: "fast", include: fast, testTimeout: patience(60), hookTimeout: patience(60) } },
      whole("core", 2, ["test/**/*.test.ts"], [...fast, ...deep]),
      whole("deep", 7, deep),
    ],
  },
})
