/** One project in which a test file runs once for each promise that it holds, with the answers falsified. */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    // A worker reads the code once.
    isolate: false,
    // Half of the time they wait, as in `npm test`.
    maxWorkers: 2 * availableParallelism(),
    execArgv: ["--initial-heap-size=400"],
    silent: true,
    globalSetup: ["test/lab/run/globalSetup.ts"],
    setupFiles: ["test/campaign/wire/setup.ts", "test/lab/run/validateAnswers.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
