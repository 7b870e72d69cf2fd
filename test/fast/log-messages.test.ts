/** Log messages are fixed phrases of one table; the guide lists each error and warning of it. */
import { assert, describe, it } from "@effect/vitest"
import { messages } from "../../src/platform/LogMessages.ts"
import { filesIn, textOf } from "../lab/Sources.ts"

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
