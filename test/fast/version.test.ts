/** One landing has one version: in the package, its lock and the changelog, which says what it asks of operators. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { interfaceVersion } from "../../schema/Version.ts"
import { version } from "../../src/platform/Software.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** Newest first. */
const sections = read("CHANGELOG.md")
  .split(/^## /mu)
  .slice(1)
  .map((text) => ({ number: /^\d+\.\d+\.\d+/u.exec(text)?.[0] ?? text, text }))

describe("the version", () => {
  it("is the newest one of the changelog, in package.json, its lock and what runs", () => {
    const lock = JSON.parse(read("package-lock.json"))
    const newest = sections[0]?.number
    assert.deepStrictEqual(
      [JSON.parse(read("package.json")).version, lock.version, lock.packages[""].version, version],
      [newest, newest, newest, newest],
    )
  })

  it("rises with each section, and each says first what an operator must do", () => {
    const order = sections.map(({ number }) => number)
    const rank = (number: string) => number.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0)
    assert.deepStrictEqual(
      order,
      [...order].sort((left, right) => rank(right) - rank(left)),
    )
    assert.isAtLeast(order.length, 2)
    for (const { number, text } of sections)
      assert.match(text, /^[^\n]+\n\n### What an operator must do\n\n(?:- [^#]+)\n### Changes\n/u, number)
  })

  it("is not the interface's, which the specification names", () => {
    assert.strictEqual(interfaceVersion, "0.15.0")
    assert.strictEqual(JSON.parse(read("schema/openapi.json")).info.version, interfaceVersion)
  })
})
