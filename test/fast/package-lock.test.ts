/** What is installed is what was meant: no address in the lock, a hash for what runs here, every platform's part named. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

interface Entry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
  readonly libc?: ReadonlyArray<string>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

type Packages = Readonly<Record<string, Entry>>

const packagesOf = (path: string): Packages =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).packages

/** Node's own search: beside the dependent, then upwards. */
const isLocked = (packages: Packages, from: string, name: string) => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true
    if (at === "") return false
  }
}

/** A part for another platform, which a registry may not hold; npm takes it only there. */
const isForeign = ({ cpu, optional, os }: Entry) => optional === true && (os ?? cpu) !== undefined

describe("a package without a hash", () => {
  const bare = ["package-lock.json", "test/tools/package-lock.json"]
    .flatMap((lock) => Object.entries(packagesOf(lock)))
    .filter(([path, entry]) => path !== "" && entry.integrity === undefined)
    .map(([path, { version }]) => `${path.replace(/^node_modules\//u, "")}@${version ?? ""}`)
  const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")

  it("is named in SECURITY.md, and no other is", () => {
    const [, section = ""] = text("SECURITY.md").split("### Packages without a hash")
    const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| `(.+)\*` \| (\S+) \| (.+) \|$/gmu)]
    const named = rows.flatMap(([, prefix = "", version = "", parts = ""]) =>
      parts.split(", ").map((part) => `${prefix}${part.replaceAll("`", "")}@${version}`),
    )
    assert.deepStrictEqual(named.sort(), [...bare].sort())
    assert.include(section, `but these ${bare.length}.`)
  })
})

describe.each(["", "test/tools/", "test/integrators/"].map((folder) => `${folder}package-lock.json`))("%s", (path) => {
  const packages = packagesOf(path)
  const entries = Object.entries(packages).filter(([name]) => name !== "")

  it("names no address", () => {
    assert.deepStrictEqual(
      entries.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path),
      [],
    )
  })

  it("has a sha512 for every package but parts of other platforms", () => {
    const bare = entries.filter(([, entry]) => !(entry.integrity ?? "").startsWith("sha512-") && !isForeign(entry))
    assert.deepStrictEqual(
      bare.map(([path]) => path),
      [],
    )
  })

  it("holds every optional part, so that npm ci agrees on any platform", () => {
    const missing = entries.flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isLocked(packages, path, name))
        .map((name) => `${path} → ${name}`),
    )
    assert.deepStrictEqual(missing, [])
  })

  it("pins the project's own dependencies exactly", () => {
    const root = packages[""]
    const ranges = Object.entries({ ...root?.dependencies, ...root?.devDependencies }).filter(
      ([, range]) => !/^(?:npm:@[\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/u.test(range),
    )
    assert.deepStrictEqual(ranges, [])
  })
})
