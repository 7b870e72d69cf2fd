/** The versions and numbers in docs/conformance.md are those that are installed and listed here. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { lines } from "../agents/ConformanceLines.ts"
import { mutants } from "../campaign/mutants/Mutants.ts"
import { rfcConsistency, rfcInclusion, rfcRoots } from "../lab/log/Vectors.ts"

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
const claim = text("docs/conformance.md")

/** The project's own versions, and those of the folders with locks of their own. */
const installed = ["", "test/tools/", "test/integrators/"].flatMap((folder) =>
  Object.entries<string>(JSON.parse(text(`${folder}package.json`)).devDependencies).map((entry) =>
    entry.join(" ").replace(/^\S+ npm:(\S+)@/u, "$1 "),
  ),
)

const rows = [...claim.matchAll(/^\| (`.*?) \| (\d[^|]*) \|/gmu)].map(([, names = "", versions = ""]) => ({
  names: [...names.matchAll(/`([^`]+)`/gu)].map(([, name = ""]) => name),
  versions: versions.trim().split(", "),
}))

describe("the claim of conformance", () => {
  it.each(rows)("names $names in the versions that are installed", ({ names, versions }) => {
    for (const [index, name] of names.entries()) assert.include(installed, `${name} ${versions[index] ?? versions[0]}`)
  })

  it("counts what there is", () => {
    assert.isAtLeast(rows.length, 9)
    const counted = [...claim.matchAll(/(\d+) server scenarios: (\d+) apply and pass, (\d+) want/gu)].map(
      ([, ...counts]) => counts.map(Number),
    )
    const [old, , current] = lines
    assert.deepStrictEqual(
      counted,
      [old, current].map(({ exceptions, required }) => {
        const excepted = [...text(`test/agents/${exceptions}`).matchAll(/^ {2}- (\S+)/gmu)].map(([, name]) => name)
        const whole = Object.keys(required).filter((name) => !excepted.includes(name)).length
        return [excepted.length + whole, whole, excepted.length]
      }),
    )
    const vectors = /(\d+) roots, (\d+) inclusion and (\d+) consistency/u.exec(claim)?.slice(1).map(Number)
    assert.deepStrictEqual(vectors, [rfcRoots.length, rfcInclusion.length, rfcConsistency.length])
    assert.include(claim, `makes ${mutants.length} deliberate faults`)
  })
})
