/** One project for each broken promise: its test files, with the answers falsified. */
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { mutants } from "./promises.ts"

export default defineConfig({
  test: {
    isolate: false,
    // Half of the time they wait, as in `npm test`.
    maxWorkers: 2 * availableParallelism(),
    silent: true,
    globalSetup: ["test/lab/run/globalSetup.ts"],
    projects: mutants.map(({ promise, tests }) => ({
      extends: false as const,
      test: {
        name: promise,
        include: tests.map((file) => `test/${file}.test.ts`),
        provide: { promise },
        setupFiles: ["test/campaign/wire/setup.ts", "test/lab/run/validateAnswers.ts"],
        testTimeout: 120_000,
        hookTimeout: 120_000,
      },
    })),
  },
})
