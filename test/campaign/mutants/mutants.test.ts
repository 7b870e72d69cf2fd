/** Some test has to notice each mutant. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, beforeAll, describe, it } from "vitest"
import { root } from "../../lab/Sources.ts"
import { mutants } from "./mutants.ts"

let output = ""

beforeAll(async () => {
  const ended = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "main.ts")], {
    cwd: root,
    maxBuffer: 2 ** 26,
  }).catch((failed) => failed)
  output = `${ended.stderr}\n${ended.stdout}`
})

describe("a deliberate fault is noticed:", () => {
  it.each(mutants)("$fault", ({ fault }) => {
    assert.include(output.split("\n"), `noticed  ${fault}`, output.slice(0, 2_000))
  })
})
