/** `npm run campaign -- model`: explores the large worlds as well, and prints which invariant catches which fault. */
import type { Outcome, Run } from "../Run.ts"
import { beyond, farBeyond, large, small } from "./Configurations.ts"
import { explore } from "./Explorer.ts"
import { mutants } from "./Mutations.ts"
import { specificationOf } from "./Specification.ts"
import type { Configuration } from "./State.ts"

/** States of one world, which are a minute's work: enough for every fault to be caught. */
export const usual = 1_000_000

/** `withStories` prints how each violation that is wanted comes about. */
export const model = ({ isOver, log, size }: Run, withStories: boolean): Outcome => {
  const counts = { worlds: 0, states: 0, steps: 0, "worlds not explored whole": 0, "faults caught": 0 }
  const violations: Array<string> = []
  const visit = (configuration: Configuration) => {
    const found = explore(specificationOf(configuration), size)
    counts.worlds += 1
    counts.states += found.states
    counts.steps += found.steps
    return found
  }
  const tell = (says: string, story: ReadonlyArray<string> = []) =>
    log([says, ...(withStories ? story : [])].join("\n         "))

  for (const world of [...Object.values(small), ...Object.values(large)]) {
    if (isOver()) break
    const { depth, isWhole, states, violation } = visit(world)
    if (violation !== undefined)
      violations.push([violation.name, `in ${world.name}`, ...violation.story].join("\n    "))
    else if (!isWhole) counts["worlds not explored whole"] += 1
    tell(`${world.name}: ${states} states, depth ${depth}`)
  }
  for (const world of [...beyond, ...farBeyond]) {
    if (isOver()) break
    const { isWhole, violation } = visit(world)
    const isEnough = violation !== undefined || isWhole || size >= usual
    if (isEnough && violation?.name !== world.breaks)
      violations.push(`${world.name}: ${violation?.name ?? "nothing"} breaks`)
    tell(`not promised: ${world.name}: ${violation?.name ?? "nothing breaks so far"}`, violation?.story)
  }
  for (const mutant of mutants) {
    if (isOver()) break
    const { isWhole, states, violation } = visit(mutant)
    if (violation !== undefined) counts["faults caught"] += 1
    else if (isWhole || size >= usual)
      violations.push(`${mutant.fault}: not caught in ${states} states of "${mutant.name}"`)
    tell(`${mutant.fault}: ${violation?.name ?? "not caught so far"}, ${states} states`, violation?.story)
  }
  return { counts, violations }
}
