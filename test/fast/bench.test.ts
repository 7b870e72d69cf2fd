/** A ratio below the budget of the benchmark is a failure. */
import { assert, describe, it } from "@effect/vitest"
import { type Figure, missed } from "../bench/Figures.ts"

const figure = (unit: Figure["unit"], ours: number, peer: number, more: Partial<Figure> = {}): Figure => ({
  name: "list",
  what: "",
  unit,
  rounds: [
    { ours: { value: ours }, peer: { value: peer } },
    { ours: { value: ours * 3 }, peer: { value: peer * 3 } },
    { ours: { value: 1 }, peer: { value: 1000 } },
  ],
  ...more,
})

describe("the benchmark", () => {
  const least = 1 / 1.2
  it.each<readonly [what: string, figure: Figure, budget: Readonly<Record<string, number>>, isMissed: boolean]>([
    ["a median that is 20 % below its budget", figure("/s", 160, 100), { list: 2 }, false],
    ["a median that is more than 20 % below", figure("/s", 159, 100), { list: 2 }, true],
    ["a ratio without a budget", figure("/s", 1, 100), {}, false],
    ["a ratio at its least", figure("ms", 119, 100, { least }), {}, false],
    ["a ratio below its least, whatever the budget says", figure("ms", 121, 100, { least }), { list: 0.5 }, true],
    ["a missing measurement", figure("ms", Number.NaN, 100, { least }), {}, true],
    ["a time within its bound", figure("ms", 499, 499, { most: 1_500 }), { list: 1 }, false],
    ["a time beyond its bound", figure("ms", 1_501, 1_501, { most: 1_500 }), { list: 1 }, true],
  ])("judges %s", (_, one, budgets, isMissed) => {
    assert.lengthOf(missed([one], budgets), isMissed ? 1 : 0)
  })
})
