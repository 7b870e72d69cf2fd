/** A short campaign with a seed of its own: the command itself goes on for as long as it is told to. */
import { assert, describe, it } from "vitest"
import { campaign } from "./Campaign.ts"
import { optionsOf } from "./Options.ts"
import { rowOf } from "./Tally.ts"

describe("a campaign", () => {
  it("kills servers and databases under purchases of every kind, and nothing is charged twice, lost or forked", async () => {
    const lines: Array<string> = []
    const options = optionsOf(["--seed", "17", "--purchases", "24", "--kills", "2", "--servers", "2", "--no-proxy"])
    if (typeof options === "string") return assert.fail(options)
    const report = await campaign(options, (line) => lines.push(line))
    assert.deepStrictEqual(report.violations, [], lines.join("\n"))
    assert.deepInclude(report, { seed: 17, phases: 1, purchases: 24, kills: 2 })
    const { ended } = rowOf(report.faults, "all purchases")
    assert.strictEqual(ended.open, 0)
    assert.isAbove(ended["at once"] + ended.later, 12)
    assert.isAbove(report.examined.get("a settled act was paid once") ?? 0, 12)
  })
})

describe("the options of a campaign", () => {
  it("are refused in a sentence when they are wrong", () => {
    assert.throws(() => optionsOf(["--servers", "4"]), "--servers takes a whole number from 1 to 3")
    assert.throws(() => optionsOf(["--settled-by", "barter"]), "--settled-by takes relayer or facilitator")
  })

  it("kill one server or database for every fifty purchases unless they are told otherwise", () => {
    assert.deepInclude(optionsOf(["--purchases", "1000"]), { kills: 20, each: 200 })
  })
})
