/** `npm run mutants`: breaks promises of the wire one after the other; exit code 1 means that no test noticed one. */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createVitest } from "vitest/node"
import { endOnSignals, ownTemporaryFolder } from "../../lab/Folders.ts"
import { root } from "../../lab/Sources.ts"
import { promiseIn, withPromise } from "./Address.ts"
import { mutants } from "./promises.ts"

const help = `Usage: npm run mutants [-- --only WORD]

Falsifies answers at the HTTP boundary, a promise at a time, and runs the tests that hold it. Exit code 1 means that a
promise was broken and no test noticed.

  --only WORD   promises with this word in them

Example: npm run mutants -- --only Retry-After`

const { values } = parseArgs({ options: { help: { type: "boolean" }, only: { type: "string", default: "" } } })
if (values.help === true) {
  console.log(help)
  process.exit()
}

ownTemporaryFolder()
endOnSignals()
const chosen = mutants.filter(({ promise }) => promise.includes(values.only))
const noticed = new Map<string, string>()
const broken: Array<string> = []
const vitest = await createVitest("test", {
  root,
  config: join(import.meta.dirname, "vitest.config.ts"),
  watch: false,
  reporters: [
    {
      onTestModuleEnd: (module) => {
        for (const { message } of module.errors()) broken.push(`${promiseIn(module.moduleId)}: ${message}`)
      },
      onTestCaseResult: (test) => {
        const promise = promiseIn(test.module.moduleId)
        if (test.result().state !== "failed" || noticed.has(promise)) return
        noticed.set(promise, test.fullName)
        console.log(`noticed  ${promise}\n         by ${test.fullName}`)
      },
    },
  ],
})
const project = vitest.getRootProject()
await vitest.runTestSpecifications(
  chosen.flatMap(({ promise, tests }) =>
    tests.map((file) => project.createSpecification(withPromise(`${root}/test/${file}.test.ts`, promise))),
  ),
)
await vitest.close()
const survivors = chosen.filter(({ promise }) => !noticed.has(promise))
for (const { promise, tests } of survivors) console.log(`SURVIVED ${promise}\n         in ${tests.join(", ")}`)
for (const message of broken) console.log(message)
console.log(`${noticed.size} of ${chosen.length} broken promises were noticed`)
process.exit(survivors.length > 0 || broken.length > 0 ? 1 : 0)
