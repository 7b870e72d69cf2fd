/** Campaigns and their documents are true: deliberate faults, versions, the auditor's imports, the command line and the last reports. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { lines } from "../agents/ConformanceLines.ts"
import { mutants } from "../campaign/mutants/Campaign.ts"
import { campaigns } from "../campaign/Commands.ts"
import { page, summarised } from "../campaign/Report.ts"
import { rfc } from "../lab/log/Vectors.ts"
import { filesIn, jsonOf, root, textOf } from "../lab/Sources.ts"
import { assert, describe, effect, it } from "../lab/Suites.ts"

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

const helpOf = (name: string) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const log = (...line: ReadonlyArray<unknown>) => void printed.push(line.join(" "))
    yield* Command.runWith(campaigns, { version: "0" })([name, "--help"]).pipe(
      Effect.provideService(Console.Console, { ...globalThis.console, log }),
    )
    return printed.join("\n")
  }).pipe(Effect.provide(NodeServices.layer))

const names = ["fire", "stories", "hostile", "scale", "mutants", "model"]

describe("npm run campaign", () => {
  effect.each(names)("%s lists the flags of all campaigns, with examples", function* (name) {
    const help = yield* helpOf(name)
    for (const flag of ["--seed", "--minutes", "--size", "--report"]) assert.include(help, flag)
    assert.include(help, `npm run campaign -- ${name}`)
  })

  it("has its last reports in an up-to-date table", () => {
    const text = textOf(page)
    assert.strictEqual(text, summarised(text))
  })
})
