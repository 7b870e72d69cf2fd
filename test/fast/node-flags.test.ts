/** The flags that keep a server's memory level are set at every start, and in the manual. */
import { assert, it } from "@effect/vitest"
import { jsonOf, textOf as read } from "../lab/Sources.ts"

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
