/** Deliberate faults can only be put where their text still stands, once; and the auditor stays a stranger. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { mutants } from "../campaign/mutants/Mutants.ts"

const root = new URL("../..", import.meta.url).pathname

const count = (text: string, part: string) => text.split(part).length - 1

describe("a deliberate fault", () => {
  it.each(mutants)("$fault: stands in $file exactly once", ({ file, from, tests, to }) => {
    assert.strictEqual(count(readFileSync(join(root, file), "utf8"), from), 1)
    assert.notStrictEqual(from, to)
    assert.isNotEmpty(tests)
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
