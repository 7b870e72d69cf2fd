/** `npm run campaign -- model`: explores the large worlds as well; the tests explore the small ones and every fault. */
import type { Outcome, Run } from "../Run.ts"
import { beyond, farBeyond, large, small } from "./Configurations.ts"
import { explore } from "./Explorer.ts"
import { specificationOf } from "./Specification.ts"

/** States of one world, a minute's work. */
export const usual = 1_000_000

export const model = ({ isOver, log, size }: Run): Outcome => {
  const counts = { worlds: 0, states: 0, steps: 0, "worlds not explored whole": 0 }
  const violations: Array<string> = []
  const promised = [...Object.values(small), ...Object.values(large)]
  for (const world of [...promised, ...beyond, ...farBeyond]) {
    if (isOver()) break
    const { depth, isWhole, states, steps, violation } = explore(specificationOf(world), size)
    counts.worlds += 1
    counts.states += states
    counts.steps += steps
    if (violation === undefined && !isWhole) counts["worlds not explored whole"] += 1
    const breaks = "breaks" in world ? world.breaks : undefined
    const isJudged = breaks === undefined || violation !== undefined || isWhole || size >= usual
    if (isJudged && violation?.name !== breaks)
      violations.push(
        [violation?.name ?? "nothing breaks", `in ${world.name}`, ...(violation?.story ?? [])].join("\n    "),
      )
    log(`${world.name}: ${states} states, depth ${depth}, ${violation?.name ?? "nothing breaks"}`)
  }
  return { counts, violations }
}
