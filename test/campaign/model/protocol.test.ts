/** Every interleaving of the payment protocol in small worlds; and that no deliberate fault in it goes unnoticed. */
import { assert, describe, it } from "@effect/vitest"
import { isGroup } from "./Chain.ts"
import { beyond, small } from "./Configurations.ts"
import { explore } from "./Explorer.ts"
import { mutants } from "./Mutations.ts"
import { specificationOf } from "./Specification.ts"
import { type Configuration, type Row, type State, tooPoor } from "./State.ts"

describe("the payment protocol", () => {
  it.each(Object.values(small))("keeps its invariants with $name", (configuration) => {
    const { isWhole, violation } = explore(specificationOf(configuration))
    assert.deepStrictEqual({ isWhole, violation }, { isWhole: true, violation: undefined })
  })

  const ends: ReadonlyArray<readonly [string, Configuration, (row: Row) => boolean]> = [
    ["settled for good", small.behind, (row) => row.finality === "final"],
    ["lost", small.behind, (row) => row.finality === "lost"],
    [
      "settled by what was sent again",
      small.resent,
      (row) => row.finality === "final" && row.isResent && row.moved === row.note,
    ],
    ["failed as its wallet could not pay", small.emptied, (row) => row.reason === tooPoor],
    ["failed", small.behind, (row) => row.state === "failed" && row.note !== ""],
    ["settled in a group", small.group, (row) => row.finality === "final" && isGroup(row.transaction)],
    [
      "settled alone after its group",
      small.group,
      ({ finality, note, transaction }) => finality === "final" && transaction === note && note.startsWith("bR11"),
    ],
  ]
  it.each(ends)("can end an attempt as %s", (name, world, isEnd) => {
    const never = { name, holds: ({ database }: State) => !Object.values(database.rows).some(isEnd) }
    const { violation } = explore({ ...specificationOf(world), invariants: [never] })
    assert.strictEqual(violation?.name, name)
  })

  it.each(beyond)("does not promise, and the model shows why: $name", (configuration) => {
    assert.strictEqual(explore(specificationOf(configuration)).violation?.name, configuration.breaks)
  })

  it.each(mutants)("would break with this fault: $fault", (mutant) => {
    const { states, violation } = explore(specificationOf(mutant))
    assert.isDefined(violation, `${states} states of "${mutant.name}" show nothing`)
    console.log(
      `${mutant.fault}: caught in "${mutant.name}" after ${violation.story.length} steps by "${violation.name}"`,
    )
  })
})
