/** What Nix relies on and npm would not miss: one pin of nixpkgs, one Node, and a hash for every tarball it fetches. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
const manifest = JSON.parse(text("package.json"))
const nixFiles = ["checks", "dependencies", "module", "package", "sandbox", "serve", "shell", "vm-test"]

describe("the pins", () => {
  it("hold one input, at one revision of the stable branch", () => {
    const lock = JSON.parse(text("flake.lock"))
    assert.deepStrictEqual([lock.version, lock.root, Object.keys(lock.nodes)], [7, "root", ["nixpkgs", "root"]])
    assert.deepStrictEqual(lock.nodes.root.inputs, { nixpkgs: "nixpkgs" })
    const { locked, original } = lock.nodes.nixpkgs
    assert.match(locked.rev, /^[0-9a-f]{40}$/u)
    assert.match(locked.narHash, /^sha256-[A-Za-z0-9+/]{43}=$/u)
    assert.deepStrictEqual([locked.owner, locked.repo], [original.owner, original.repo])
    const inputs = [...text("flake.nix").matchAll(/inputs\.(\w+)\.url = "(.*)"/gu)].map(([, name, url]) => [name, url])
    assert.deepStrictEqual(inputs, [["nixpkgs", `github:${original.owner}/${original.repo}/${original.ref}`]])
  })

  it("agree on Node", () => {
    const major = manifest.devDependencies.node.split(".")[0]
    assert.strictEqual(manifest.engines.node, `>=${major}`)
    for (const file of nixFiles)
      for (const [name] of text(`nix/${file}.nix`).matchAll(/nodejs_\d+/gu)) assert.strictEqual(name, `nodejs_${major}`)
  })

  it.each([
    ["package-lock.json", /node_modules\/@foundry-rs\/anvil-/u],
    ["test/tools/package-lock.json", /node_modules\/@(?:effect\/tsgo|oxfmt\/binding|oxlint\/binding)-/u],
  ])("leave only tools of a check in %s without a hash, and none where everything is checked", (file, tools) => {
    const packages: Record<string, { integrity?: string; os?: Array<string>; cpu?: Array<string> }> = JSON.parse(
      text(file),
    ).packages
    const bare = Object.entries(packages).filter(([path, entry]) => path !== "" && entry.integrity === undefined)
    assert.deepStrictEqual(
      bare.filter(([path]) => !tools.test(path)).map(([path]) => path),
      [],
    )
    const here = bare.filter(
      ([path, { cpu, os }]) => os?.includes("linux") && cpu?.includes("x64") && !path.endsWith("-musl"),
    )
    assert.deepStrictEqual(here, [])
  })
})
