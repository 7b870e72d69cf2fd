/** Every interleaving of the payment protocol in small worlds; and that no deliberate fault in it goes unnoticed. */
import { assert, describe, it } from "@effect/vitest"
import { beyond, small } from "./Configurations.ts"
import { explore } from "./Explorer.ts"
import { mutants } from "./Mutations.ts"
import { specificationOf } from "./Payment.ts"
import type { Row, State } from "./State.ts"

describe("the payment protocol", () => {
  it.each(Object.values(small))("keeps its promise: $name", (configuration) => {
    const { isWhole, violation } = explore(specificationOf(configuration))
    assert.deepStrictEqual({ isWhole, violation }, { isWhole: true, violation: undefined })
  })

  const ends: ReadonlyArray<readonly [string, (row: Row) => boolean]> = [
    ["settled for good", (row) => row.finality === "final"],
    ["lost", (row) => row.finality === "lost"],
    ["failed", (row) => row.state === "failed" && row.note !== ""],
  ]
  it.each(ends)("can end an attempt as %s", (name, isEnd) => {
    const never = { name, holds: ({ database }: State) => !Object.values(database.rows).some(isEnd) }
    const { violation } = explore({ ...specificationOf(small.behind), invariants: [never] })
    assert.strictEqual(violation?.name, name)
  })

  it.each(beyond)("does not promise: $name", (configuration) => {
    assert.strictEqual(explore(specificationOf(configuration)).violation?.name, configuration.breaks)
  })

  it.each(mutants)("would not keep it otherwise: $fault", (mutant) => {
    const { states, violation } = explore(specificationOf(mutant))
    assert.isDefined(violation, `${states} states of "${mutant.name}" show nothing`)
    console.log(
      `${mutant.fault}: caught in "${mutant.name}" after ${violation.story.length} steps by "${violation.name}"`,
    )
  })
})
