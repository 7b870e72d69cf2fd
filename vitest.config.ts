/** Tests run against a real PostgreSQL, a real chain and a real browser. */
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import FileOrder from "./test/support/FileOrder.ts"
import { patience } from "./test/support/Patience.ts"

/** What needs no process, chain or browser: whoever changes a line hears about it in seconds. */
const fast = "test/fast/**/*.test.ts"

export default defineConfig({
  test: {
    // Reading the code costs more than most files' tests: a worker reads it once.
    isolate: false,
    // Half of the time they wait: for blocks, for polls, for processes that start.
    maxWorkers: 2 * availableParallelism(),
    silent: "passed-only",
    reporters: ["default", "./test/support/FailureReporter.ts"],
    sequence: { sequencer: FileOrder },
    coverage: {
      include: ["src/**/*.ts", "schema/**/*.ts"],
      reporter: ["text", "html", fileURLToPath(new URL("test/support/UncoveredFiles.ts", import.meta.url))],
    },
    projects: [
      { extends: true, test: { name: "fast", include: [fast], testTimeout: patience(60), hookTimeout: patience(60) } },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: [fast, "**/node_modules/**"],
          globalSetup: ["test/support/globalSetup.ts"],
          setupFiles: ["test/support/validateAnswers.ts"],
          testTimeout: patience(120),
          hookTimeout: patience(120),
        },
      },
    ],
  },
})
