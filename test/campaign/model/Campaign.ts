/** `npm run campaign -- model`: explores the large worlds as well; the tests explore the small ones and every fault. */
import type { Outcome, Run } from "../Run.ts"
import { explore } from "./Explorer.ts"
import { specificationOf } from "./Specification.ts"
import { large, small } from "./State.ts"

export const model = ({ isOver, log, size }: Run): Outcome => {
  const counts = { worlds: 0, states: 0, steps: 0, "worlds not explored whole": 0 }
  const violations: Array<string> = []
  for (const world of [...Object.values(small), ...large]) {
    if (isOver()) break
    const { isWhole, states, steps, violation } = explore(specificationOf(world), size)
    counts.worlds += 1
    counts.states += states
    counts.steps += steps
    if (violation !== undefined)
      violations.push([violation.name, `in ${world.name}`, ...violation.story].join("\n    "))
    else if (!isWhole) counts["worlds not explored whole"] += 1
    log(`${world.name}: ${states} states, ${violation?.name ?? "nothing breaks"}`)
  }
  return { counts, violations }
}
