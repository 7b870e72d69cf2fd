/** The lists of campaigns and their documents are true: deliberate faults, installed versions, what the auditor imports. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { lines } from "../agents/ConformanceLines.ts"
import { rfc } from "../lab/log/Vectors.ts"
import { filesIn, jsonOf, root, textOf } from "../lab/Sources.ts"
import { mutants } from "../campaign/mutants/Campaign.ts"

const missing = (files: ReadonlyArray<string>) => files.filter((file) => !existsSync(join(root, file)))

describe("a deliberate fault", () => {
  it.each(mutants)("replaces code that $file contains exactly once: $fault", ({ file, from, tests, to }) => {
    assert.isNotEmpty(tests)
    assert.strictEqual(textOf(file).split(from).length - 1, 1)
    assert.notStrictEqual(from, to)
    assert.deepStrictEqual(missing(tests), [])
  })

  it("is one of fifty, each with its own name", () => {
    assert.isAtLeast(mutants.length, 50)
    assert.strictEqual(new Set(mutants.map(({ fault }) => fault)).size, mutants.length)
  })
})

describe("the auditor", () => {
  it("imports nothing of the code that it audits", () => {
    const own = filesIn(["test/audit"]).filter((file) => !/\.test\.ts$|\/fixture\//u.test(file))
    const wrong = own.flatMap((file) =>
      [...textOf(file).matchAll(/from "([^"]+)"/gu)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^(?:node:|\.\/|postgres$|viem$)/u.test(target))
        .map((target) => `${file} → ${target}`),
    )
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(own.length, 5)
  })
})

describe("the page of conformance", () => {
  const claim = textOf("docs/conformance.md")
  const installed = ["", "test/tools/", "test/integrators/"].flatMap((folder) =>
    Object.entries<string>(jsonOf(`${folder}package.json`).devDependencies).map((entry) =>
      entry.join(" ").replace(/^\S+ npm:(\S+)@/u, "$1 "),
    ),
  )
  const rows = [...claim.matchAll(/^\| (`.*?) \| (\d[^|]*) \|/gmu)].map(([, names = "", versions = ""]) => ({
    names: [...names.matchAll(/`([^`]+)`/gu)].map(([, name = ""]) => name),
    versions: versions.trim().split(", "),
  }))

  it.each(rows)("names $names in the installed versions", ({ names, versions }) => {
    for (const [index, name] of names.entries()) assert.include(installed, `${name} ${versions[index] ?? versions[0]}`)
  })

  it("counts its own rows", () => {
    assert.isAtLeast(rows.length, 9)
    const counted = [...claim.matchAll(/(\d+) server scenarios: (\d+) apply and pass, (\d+) want/gu)].map(
      ([, ...counts]) => counts.map(Number),
    )
    const [old, , current] = lines
    assert.deepStrictEqual(
      counted,
      [old, current].map(({ exceptions, required }) => {
        const excepted = [...textOf(`test/agents/${exceptions}`).matchAll(/^ {2}- (\S+)/gmu)].map(([, name]) => name)
        const whole = Object.keys(required).filter((name) => !excepted.includes(name)).length
        return [excepted.length + whole, whole, excepted.length]
      }),
    )
    const vectors = /(\d+) roots, (\d+) inclusion and (\d+) consistency/u.exec(claim)?.slice(1).map(Number)
    assert.deepStrictEqual(vectors, [rfc.roots.length, rfc.inclusion.length, rfc.consistency.length])
    assert.include(claim, `makes ${mutants.length} deliberate faults`)
  })
})
