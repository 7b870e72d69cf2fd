/** Deliberate faults, the auditor, the pooled run and the claim of conformance name what there is. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { rfcConsistency, rfcInclusion, rfcRoots } from "../lab/log/Vectors.ts"
import { mutants } from "../mutants/Mutants.ts"
import { apart, withDatabase } from "../scale/Apart.ts"

const root = new URL("../..", import.meta.url).pathname

const count = (text: string, part: string) => text.split(part).length - 1

describe("a deliberate fault", () => {
  it.each(mutants)("$fault: stands in $file exactly once", ({ file, from, tests, to }) => {
    assert.strictEqual(count(readFileSync(join(root, file), "utf8"), from), 1)
    assert.notStrictEqual(from, to)
    assert.deepStrictEqual(
      tests.filter((test) => !existsSync(join(root, test))),
      [],
    )
  })

  it("is one of fifty, each with its own name", () => {
    assert.isAtLeast(mutants.length, 50)
    assert.strictEqual(new Set(mutants.map(({ fault }) => fault)).size, mutants.length)
  })
})

describe("the auditor", () => {
  it("imports nothing of what it audits", () => {
    const folder = join(root, "test/audit")
    const own = readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    const wrong = own.flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").matchAll(/from "([^"]+)"/gu)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^(?:node:|\.\/|postgres$|viem$)/u.test(target))
        .map((target) => `${file} → ${target}`),
    )
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(own.length, 5)
  })
})

it("each test file that is left out exists, is named once, and has its reason", () => {
  const files = apart.flatMap(({ files: named }) => named)
  assert.deepStrictEqual(
    files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url))),
    [],
  )
  assert.strictEqual(new Set(files).size, files.length)
  for (const { why } of apart) assert.isNotEmpty(why)
})

it("what is run has a database: its folders are those of the tests, and no fast test is among it", () => {
  const run = withDatabase()
  assert.isAbove(run.length, 100)
  for (const folder of ["agents", "browser", "buyer", "cli", "contract", "crash", "payments", "room", "telemetry"])
    assert.isTrue(
      run.some((file) => file.startsWith(`test/${folder}/`)),
      folder,
    )
  assert.deepStrictEqual(
    run.filter((file) => /^test\/fast\/|node_modules/u.test(file)),
    [],
  )
})

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
const claim = text("docs/conformance.md")

/** The project's own versions, and those of the folders with locks of their own. */
const installed = ["", "test/tools/", "test/integrators/"].flatMap((folder) =>
  Object.entries<string>(JSON.parse(text(`${folder}package.json`)).devDependencies).map((entry) => entry.join(" ")),
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
    const excepted = text("test/agents/conformance.yaml").match(/^ {2}- /gmu)?.length ?? 0
    const scenarios =
      /(\d+) server scenarios: (\d+) apply and pass, (\d+) want/u.exec(claim)?.slice(1).map(Number) ?? []
    const required = /required = \[([^\]]*)\]/u.exec(text("test/agents/conformance.test.ts"))?.[1]?.split(",").length
    assert.deepStrictEqual(scenarios, [excepted + (required ?? 0), required, excepted])
    const vectors = /(\d+) roots, (\d+) inclusion and (\d+) consistency/u.exec(claim)?.slice(1).map(Number)
    assert.deepStrictEqual(vectors, [rfcRoots.length, rfcInclusion.length, rfcConsistency.length])
    assert.include(claim, `makes ${mutants.length} deliberate faults`)
  })
})
