/** The documented size of `npm ci` is that of this checkout, package by package. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { counter, isNear, named } from "../lab/DiskSpace.ts"
import { jsonOf, root, textOf as text } from "../lab/Sources.ts"
import { assert, assertEach, assertNone, describe, it } from "../lab/Suites.ts"

const modules = join(root, "node_modules")

const rows = [...text("CONTRIBUTING.md").matchAll(/^\| (?<names>`.*?`) \| (?<megabytes>\d+) \| \S/gmu)].map(
  ({ groups }) => ({
    names: [...(groups?.["names"] ?? "").matchAll(/`([^`]+)`/gu)].map(([, name = ""]) => name),
    megabytes: Number(groups?.["megabytes"]),
  }),
)

const measured = () => {
  const megabytesOf = counter()
  // Names with a leading dot were made here: links to programs, and what tools keep.
  const names = readdirSync(modules).filter((name) => !name.startsWith("."))
  const packages = names.flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : [name],
  )
  return packages.map((name) => ({ name, megabytes: megabytesOf(join(modules, name)) }))
}

const fits = (pattern: string, name: string) =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern

describe("the size of the install", () => {
  const packages = measured()
  const sum = (some: typeof packages) => some.reduce((total, { megabytes }) => total + megabytes, 0)
  const found = rows.map((row) => ({
    ...row,
    installed: packages.filter(({ name }) => row.names.some((pattern) => fits(pattern, name))),
  }))

  it("is listed for the ten largest packages, from the largest down", () => {
    assert.strictEqual(rows.length, 10)
    assertEach(
      rows,
      ({ megabytes }) => megabytes,
      rows.map(({ megabytes }) => megabytes).sort((left, right) => right - left),
    )
    // Nix brings its own Node, PostgreSQL and chain.
    const wrong = found.filter(({ installed, megabytes }) => installed.length > 0 && !isNear(megabytes, sum(installed)))
    assertEach(wrong, ({ installed, ...row }) => ({ ...row, measured: sum(installed) }), [])
    const smallest = Math.min(...rows.map(({ megabytes }) => megabytes))
    const others = packages.filter(
      ({ name }) => !rows.some(({ names }) => names.some((pattern) => fits(pattern, name))),
    )
    assertNone(others, ({ megabytes }) => megabytes > smallest + 0.5)
  })

  it("is stated in README and CONTRIBUTING", () => {
    const absent = found.filter(({ installed }) => installed.length === 0)
    const whole = sum(packages) + absent.reduce((total, { megabytes }) => total + megabytes, 0)
    for (const file of ["README.md", "CONTRIBUTING.md"]) {
      const said = named(text(file), /`npm ci` takes (?<megabytes>\d+) MB/gu)
      assert.isNotEmpty(said, file)
      for (const megabytes of said) assert.isTrue(isNear(megabytes, whole), `${file}: ${megabytes}, not ${whole}`)
    }
  })

  it("counts no package that a folder with its own lock installs", () => {
    const { devDependencies } = jsonOf("test/tools/package.json")
    assertNone(Object.keys(devDependencies), (name) => existsSync(join(modules, name)))
  })
})
