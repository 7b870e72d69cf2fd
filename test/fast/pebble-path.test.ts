/** The path of the chain's page shows each stone, and the day where it changes. */
import { assert, it } from "@effect/vitest"
import { pebblePath } from "../../src/pages/templates/PebblePath.ts"

const stone = (id: string, witnessedAt: string) => ({ id, commitment: id.repeat(64), witnessedAt })

it("a path shows the drawing of each stone, its day once, and the number of each day in words", () => {
  const { text } = pebblePath(
    [stone("c", "2026-11-28T09:00:00Z"), stone("b", "2026-11-28T08:00:00Z"), stone("a", "2026-11-26T23:59:59Z")],
    "chain",
    false,
  )
  const drawings = [...text.matchAll(/href="#chain-([abc])/gu)].map(([, id]) => id)
  assert.deepStrictEqual(drawings, ["c", "b", "a"])
  assert.deepStrictEqual(text.match(/\d+ Nov(?=<)/gu), ["28 Nov", "26 Nov"])
  assert.include(text, "Stones by day: 2 on 28 November 2026, 1 on 26 November 2026.")
})
