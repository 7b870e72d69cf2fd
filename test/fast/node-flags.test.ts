/** The flags that keep a server's memory level are set at every start, and in the manual. */
import { execFileSync } from "node:child_process"
import { assert, it } from "@effect/vitest"
import { jsonOf, textOf as read } from "../lab/Sources.ts"

const flagsOf = (command: string) =>
  /node["']?,? (?<flags>(?:["']?--[\w=-]+["']?,? )+)/u.exec(command)?.groups?.["flags"]

const told = (command: string) => flagsOf(command)?.match(/--[\w-]+=\d+/gu)

const youngest = (flags: ReadonlyArray<string>) =>
  Number(
    execFileSync(process.execPath, [...flags, "-p", churn], {
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" },
    }),
  ) /
  2 ** 20

const churn = `
  let most = 0
  const kept = []
  for (let index = 0; index < 400_000; index += 1) {
    kept[index % 60_000] = new Array(50).fill(index)
    if (index % 1000 > 0) continue
    const { space_size } = v8.getHeapSpaceStatistics().find((space) => space.space_name === "new_space")
    most = Math.max(most, space_size)
  }
  most`

it("Node accepts the flags, which give young objects two halves of 16 MB", () => {
  const flags = told(jsonOf("package.json").scripts.serve) ?? []
  assert.isAtMost(youngest(flags), 32)
  assert.isAbove(youngest([]), 32)
})

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
