/** The trace id alone decides what is sampled. */
import { assert, describe, it } from "@effect/vitest"
import { isIn } from "../../src/telemetry/Tracing.ts"

const first = "0".repeat(32)
const last = "f".repeat(32)
const middle = `${"a".repeat(18)}80000000000000`

describe("a sampled trace", () => {
  it.each([
    [1, [first, middle, last]],
    [0.5, [middle, last]],
    [0.01, [last]],
    [0, []],
  ] as const)("with a share of %d is sampled by its id alone", (share, kept) => {
    assert.deepStrictEqual(
      [first, middle, last].filter((id) => isIn(share, id)),
      [...kept],
    )
  })
})
