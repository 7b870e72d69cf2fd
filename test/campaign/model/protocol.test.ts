/** Every interleaving of the payment protocol in small worlds; and that no deliberate fault in it goes unnoticed. */
import { assert, describe, it } from "@effect/vitest"
import { couldNotPay } from "../../../src/payments/decision.ts"
import { explore } from "./Explorer.ts"
import { specificationOf } from "./Specification.ts"
import { type Fault, faults, type Row, small, type State, type World } from "./State.ts"

describe("the payment protocol", () => {
  it.each(Object.values(small))("keeps its invariants with $name", (world) => {
    const { isWhole, violation } = explore(specificationOf(world))
    assert.deepStrictEqual({ isWhole, violation }, { isWhole: true, violation: undefined })
  })

  const ends: ReadonlyArray<readonly [string, World, (row: Row) => boolean]> = [
    ["settled for good", small.behind, (row) => row.finality === "final"],
    ["lost", small.behind, (row) => row.finality === "lost"],
    ["failed after its broadcast", small.behind, (row) => row.state === "failed" && row.isNoted],
    ["failed as its wallet could not pay", small.emptied, (row) => row.reason === couldNotPay],
    ["failed as never sent", small["facilitator unheard"], (row) => row.reason === "unsent"],
  ]
  it.each(ends)("can end an attempt as %s", (name, world, isEnd) => {
    const never = { name, holds: ({ row }: State) => !isEnd(row) }
    const { violation } = explore({ ...specificationOf(world), invariants: [never] })
    assert.strictEqual(violation?.name, name)
  })

  it.each(Object.entries(faults))("would break with this fault: %s", (fault, place) => {
    const world: World = { ...small[place], fault: fault as Fault }
    const { states, violation } = explore(specificationOf(world))
    assert.isDefined(violation, `${states} states of "${world.name}" show nothing`)
  })
})
