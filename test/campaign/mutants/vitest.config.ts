/** One project for each mutant: its test file, with the function broken; the reporter prints each test that noticed it. */
import { readFileSync } from "node:fs"
import { defineConfig } from "vitest/config"
import type { Plugin } from "vite"
import type { Reporter } from "vitest/node"
import { type Mutant, mutants } from "./mutants.ts"

const root = new URL("../../..", import.meta.url).pathname

/** Puts the broken function under the name of the whole one, which it may call. */
const broken = ({ breaks, by, fault, file }: Mutant): Plugin => ({
  name: "mutant",
  enforce: "pre",
  // The other modules are those of every mutant.
  configureVitest: ({ defineCacheKeyGenerator }) =>
    defineCacheKeyGenerator(({ id }) => (id === root + file ? `${fault} ${by}` : undefined)),
  load: (id: string) => {
    if (id !== root + file) return undefined
    const [before, after, ...others] = readFileSync(id, "utf8").split(
      new RegExp(`^(?=(?:export )?const ${breaks} = )`, "mu"),
    )
    if (before === undefined || after === undefined || others.length > 0) throw new Error(`${file} has no ${breaks}`)
    const [, isExported = ""] = /^(export )?/u.exec(after) ?? []
    return `${before}${isExported}const ${breaks} = (...of) => (${by})(whole)(...of)\nconst whole = ${after.slice(after.indexOf("=") + 1)}`
  },
})

const reporter: Reporter = {
  onTestModuleEnd: (module) => {
    for (const { message } of module.errors()) console.error(`${module.project.name}: ${message}`)
  },
  onTestCaseResult: (test) => {
    if (test.result().state === "failed") console.log(`noticed: ${test.project.name}`)
  },
}

export default defineConfig({
  test: {
    root,
    reporters: [reporter],
    isolate: false,
    // Each project has a worker of its own: threads begin sooner than processes.
    pool: "threads",
    silent: true,
    projects: mutants.map((mutant) => ({
      extends: true as const,
      plugins: [broken(mutant)],
      test: {
        name: mutant.fault,
        include: [`test/fast/${mutant.test}.test.ts`],
        setupFiles: ["test/campaign/mutants/setup.ts"],
      },
    })),
  },
})
