/** Runs test files once for each fault that they have to notice, in workers that read the code once. */
import { join } from "node:path"
import { createVitest } from "vitest/node"
import { root } from "../lab/Sources.ts"
import { faultOf, withFault } from "./FaultOf.ts"

export interface Faulty {
  readonly fault: string
  /** Its test files, below `test`. */
  readonly tests: ReadonlyArray<string>
}

/** Runs by the `vitest.config.ts` in a folder, tells which test noticed a fault first, and counts those that none noticed and files with errors. */
export const seek = async (folder: string, faults: ReadonlyArray<Faulty>): Promise<number> => {
  const noticed = new Set<string>()
  const broken: Array<string> = []
  const vitest = await createVitest("test", {
    root,
    config: join(folder, "vitest.config.ts"),
    watch: false,
    reporters: [
      {
        onTestModuleEnd: (module) => {
          for (const { message } of module.errors()) broken.push(`${faultOf(module.moduleId)}: ${message}`)
        },
        onTestCaseResult: (test) => {
          const fault = faultOf(test.module.moduleId)
          if (test.result().state !== "failed" || noticed.has(fault)) return
          noticed.add(fault)
          console.log(`noticed  ${fault}\n         by ${test.fullName}`)
        },
      },
    ],
  })
  const project = vitest.getRootProject()
  await vitest.runTestSpecifications(
    faults.flatMap(({ fault, tests }) =>
      tests.map((file) => project.createSpecification(withFault(join(root, "test", `${file}.test.ts`), fault))),
    ),
  )
  await vitest.close()
  const survivors = faults.filter(({ fault }) => !noticed.has(fault))
  for (const { fault, tests } of survivors) console.log(`SURVIVED ${fault}\n         in ${tests.join(", ")}`)
  for (const message of broken) console.log(message)
  console.log(`${noticed.size} of ${faults.length} faults were noticed`)
  return survivors.length + broken.length
}
