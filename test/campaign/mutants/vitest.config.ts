/** Gives each function of the table its faults: it asks at each call which of them a test has to notice. */
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import type { Plugin } from "vite"
import { defineConfig } from "vitest/config"
import { root } from "../../lab/Sources.ts"
import { type Mutant, mutants } from "./mutants.ts"

/** Puts the faulty functions of a file under the names of the whole ones, which they may call. */
const faulty = (file: string, ofFile: ReadonlyArray<Mutant>) => {
  let text = readFileSync(file, "utf8")
  for (const [breaks, faults] of Map.groupBy(ofFile, (mutant) => mutant.breaks)) {
    const [before, after, ...others] = text.split(new RegExp(`^(?=(?:export )?const ${breaks} = )`, "mu"))
    if (before === undefined || after === undefined || others.length > 0) throw new Error(`${file} has no ${breaks}`)
    const [isExported = ""] = /^(?:export )?/u.exec(after) ?? []
    const table = faults.map(({ by, fault }) => `${JSON.stringify(fault)}: ${by}`).join(", ")
    const one = `const ${breaks} = (...of) => (({ ${table} })[globalThis.fault]?.(whole_${breaks}) ?? whole_${breaks})(...of)`
    text = `${before}${isExported}${one}\nconst whole_${breaks} = ${after.slice(after.indexOf("=") + 1)}`
  }
  return text
}

const plugin: Plugin = {
  name: "mutants",
  enforce: "pre",
  load: (id) => {
    const ofFile = mutants.filter(({ file }) => id === root + file)
    return ofFile.length === 0 ? undefined : faulty(id, ofFile)
  },
}

export default defineConfig({
  plugins: [plugin],
  test: {
    // A worker reads the code once.
    isolate: false,
    maxWorkers: availableParallelism(),
    silent: true,
    setupFiles: ["test/campaign/mutants/setup.ts"],
  },
})
