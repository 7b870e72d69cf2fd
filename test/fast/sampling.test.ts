/** Which traces a share of them holds: the trace id decides, so all servers keep the same ones. */
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
  ] as const)("is in a share of %d by its id alone", (share, kept) => {
    assert.deepStrictEqual(
      [first, middle, last].filter((id) => isIn(share, id)),
      [...kept],
    )
  })
})
