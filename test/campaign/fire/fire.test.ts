/** A short campaign with a seed of its own: the command itself goes on for as long as it is told to. */
import { rmSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { fire } from "./Campaign.ts"
import { homeOf } from "../../lab/Folders.ts"

const ofCards = ["a card charge buys one act", "a settled card act was charged once"]

/** Where the money of a settled act is. */
const ofPayments = ["a settled act was paid once", "a lost act was not paid", "a settled card act was charged once"]

describe("a campaign", () => {
  it("kills servers and databases under purchases of every kind, and nothing is charged twice, lost or forked", async () => {
    const lines: Array<string> = []
    const log = (line: string) => void lines.push(line)
    const folder = homeOf(undefined, "fire")
    const { counts, examined, violations } = await fire({ seed: 488, size: 24, kills: 2, folder, log })
    assert.deepStrictEqual(violations, [], lines.join("\n"))
    assert.deepInclude(counts, { phases: 1, purchases: 24, kills: 2 })
    const { settled } = counts
    assert.isAbove(settled, 12)
    // How many of their payments a reorganisation took is not the seed's: each was looked for, and what is lost was not paid.
    const lookedFor = ofPayments.map((check) => examined.get(check) ?? 0)
    assert.isAtLeast(
      lookedFor.reduce((sum, count) => sum + count, 0),
      settled,
    )
    assert.isAbove(lookedFor[0] ?? 0, 0, ofPayments[0])
    assert.isAbove(counts.strikes, counts.kills)
    // Four of these purchases are charged to cards.
    for (const check of ofCards) assert.isAbove(examined.get(check) ?? 0, 0, check)
    rmSync(folder, { recursive: true, force: true })
  })
})
