/** Log messages are fixed phrases of one table that the guide explains, and the trace id alone decides what is sampled. */
import { assert, describe, it } from "@effect/vitest"
import { isIn } from "../../src/telemetry/Tracing.ts"
import { messages } from "../../src/platform/LogMessages.ts"
import { filesIn, textOf } from "../lab/Sources.ts"

const first = "0".repeat(32)
const last = "f".repeat(32)
const middle = `${"a".repeat(18)}80000000000000`

describe("a sampled trace", () => {
  it.each([
    [1, [first, middle, last]],
    [0.5, [middle, last]],
    [0.01, [last]],
    [0, []],
  ] as const)("with a share of %d is sampled by its id alone", (share, kept) => {
    assert.deepStrictEqual(
      [first, middle, last].filter((id) => isIn(share, id)),
      [...kept],
    )
  })
})

const sources = filesIn(["src"]).filter((file) => file !== "src/platform/LogMessages.ts")
const texts = sources.map((file) => [file, textOf(file)] as const)

describe("the table of log messages", () => {
  it("is the only place that logs through Effect", () => {
    const direct = texts.filter(([, text]) => /\bEffect\.log[A-Z(]/u.test(text)).map(([file]) => file)
    assert.deepStrictEqual(direct, [])
  })

  it("has an action in the guide for each error and warning", () => {
    const listed = textOf("docs/log-messages.md")
      .split("\n")
      .filter((row) => row.startsWith("- `"))
    const rows = (["Fatal", "Error", "Warn"] as const).flatMap((level) =>
      [...Map.groupBy(Object.entries(messages[level]), ([, action]) => action)].map(
        ([action, same]) => `- ${same.map(([message]) => `\`${message}\``).join(", ")}: ${action}`,
      ),
    )
    assert.deepStrictEqual(listed, rows)
  })
})
