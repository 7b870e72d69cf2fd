/** What keeps a server's memory level is told to its Node wherever it is started, and in the manual that says how. */
import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** Flags of Node, before the program that it runs. */
const flagsOf = (command: string) =>
  /node["']?,? (?<flags>(?:["']?--[\w=-]+["']?,? )+)/u.exec(command)?.groups?.["flags"]

const told = (command: string) => flagsOf(command)?.match(/--[\w-]+=\d+/gu)

it("every way to start a server gives its Node the same flags", () => {
  const flags = told(JSON.parse(read("package.json")).scripts.serve)
  assert.lengthOf(flags ?? [], 2)
  for (const path of ["deploy/spirit-altar.service", "Dockerfile", "docs/operations.md", "nix/serve.nix"]) {
    const line = read(path)
      .split("\n")
      .find((text) => text.includes("--max-semi-space-size"))
    assert.deepStrictEqual(told(line ?? ""), flags, path)
  }
  assert.include(read("nix/module.nix"), "ExecStart = lib.getExe (pkgs.callPackage ./serve.nix")
})
