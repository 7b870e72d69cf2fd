/** The campaigns' command line, their reports and the table of the last reports. docs/testing.md explains them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { campaigns } from "../campaign/Commands.ts"
import { page, root, summarised } from "../campaign/Report.ts"
import { assert, describe, effect, it } from "../lab/Suites.ts"

const called = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const log = (...line: ReadonlyArray<unknown>) => void printed.push(line.join(" "))
    const exit = yield* Command.runWith(campaigns, { version: "0" })(args).pipe(
      Effect.provideService(Console.Console, { ...globalThis.console, log, error: log }),
      Effect.exit,
    )
    return { text: printed.join("\n"), isUnderstood: Exit.isSuccess(exit) }
  }).pipe(Effect.provide(NodeServices.layer))

const names = ["fire", "stories", "hostile", "scale", "mutants", "model"]

describe("npm run campaign", () => {
  effect.each(names.map((name) => ({ name })))(
    "$name lists the flags of all campaigns, with examples",
    function* ({ name }) {
      const { text } = yield* called(name, "--help")
      for (const flag of ["--seed", "--minutes", "--size", "--report"]) assert.include(text, flag)
      assert.include(text, `npm run campaign -- ${name}`)
    },
  )

  effect.each([
    { args: ["model", "--seed", "4"], says: "every interleaving is visited, so nothing is drawn" },
    { args: ["fire", "--servers", "4"], says: "--servers takes a whole number from 1 to 3" },
    { args: ["stories", "--only", "barter"], says: "relayer" },
    { args: ["stories", "--size", "0"], says: "--size takes a whole number from 1" },
    { args: ["model", "--minutes", "-1"], says: "--minutes takes a number above 0" },
  ])("refuses $args and says why", function* ({ args, says }) {
    const { isUnderstood, text } = yield* called(...args)
    assert.isFalse(isUnderstood)
    assert.include(text, says)
  })

  it("has its last reports in an up-to-date table", () => {
    const text = readFileSync(join(root, page), "utf8")
    assert.strictEqual(text, summarised(text))
  })
})
