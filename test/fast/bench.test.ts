/** The budget of the benchmark holds what can be measured, and a ratio below it is a failure. */
import { assert, describe, it } from "@effect/vitest"
import { contests } from "../bench/Contests.ts"
import { type Figure, missed } from "../bench/Figures.ts"
import { jsonOf } from "../lab/Sources.ts"

const budget: Readonly<Record<string, unknown>> = jsonOf("test/bench/budget.json")
const names = contests.map(({ name }) => name)

const figure = (unit: Figure["unit"], ours: number, peer: number): Figure => ({
  name: "list",
  what: "",
  unit,
  rounds: [
    { ours: { value: ours }, peer: { value: peer } },
    { ours: { value: ours * 3 }, peer: { value: peer * 3 } },
    { ours: { value: 1 }, peer: { value: 1000 } },
  ],
})

describe("the benchmark", () => {
  it("has one name for each contest, and budgets for those alone", () => {
    assert.strictEqual(new Set(names).size, names.length)
    for (const [name, ratio] of Object.entries(budget)) {
      assert.include(names, name)
      assert.isTrue(typeof ratio === "number" && ratio > 0, name)
    }
  })

  it("misses the budget when the median is more than 20 % below it", () => {
    assert.deepStrictEqual(missed([figure("/s", 160, 100)], { list: 2 }), [])
    assert.strictEqual(missed([figure("/s", 159, 100)], { list: 2 }).length, 1)
    assert.deepStrictEqual(missed([figure("/s", 1, 100)], {}), [])
  })

  it("gives every contest a budget or bounds, so that each can fail", () => {
    for (const { least, most, name } of contests)
      assert.isTrue(name in budget || least !== undefined || most !== undefined, name)
    const one = (name: string) => contests.find((contest) => contest.name === name)
    assert.strictEqual(one("growth")?.least, 1 / 1.3)
    assert.strictEqual(one("relayer-load")?.least, 0.98)
    assert.strictEqual(one("start")?.most, 1_500)
  })

  const bounded = (change: Partial<Figure>, ours: number, peer = ours): Figure => ({
    ...figure("ms", 0, 0),
    ...change,
    rounds: [{ ours: { value: ours }, peer: { value: peer } }],
  })

  it("fails bounds at once, whatever the budget says", () => {
    const read = (ours: number) => bounded({ name: "growth", least: 1 / 1.2 }, ours, 100)
    assert.deepStrictEqual(missed([read(119)], {}), [])
    assert.deepStrictEqual(missed([read(121)], { growth: 0.5 }).length, 1)
    assert.strictEqual(missed([read(Number.NaN)], {}).length, 1, "a missing measurement fails")
    const start = (ours: number) => ({ ...figure("ms", ours, ours), name: "start", most: 1_500 })
    assert.deepStrictEqual(missed([start(499)], { start: 1 }), [])
    assert.deepStrictEqual(missed([start(1_501)], { start: 1 }).length, 1)
  })
})
