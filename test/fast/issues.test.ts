/** Issues of a wrong request quote what the caller wrote, are harmless wherever they are shown, and have an end. */
import { Effect, Schema } from "effect"
import { RoomBody } from "../../schema/room/Room.ts"
import { issuesOf } from "../../src/platform/Issues.ts"
import { malformed } from "../../src/room/Requests.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

const strict = { onExcessProperty: "error", errors: "all" } as const

describe("the message about a wrong body", () => {
  effect.each(["\u0000", "\u001b[2J", "a\nb", "\u009b", "\ud800", "x".repeat(5000)])(
    "contains nothing that would steer a terminal: %j",
    function* (name) {
      const error = yield* Effect.flip(Schema.decodeUnknownEffect(RoomBody, strict)({ [name]: 1 }))
      const [issue] = issuesOf(error)
      for (const text of [issue?.path, issue?.message, malformed(issuesOf(error)).error.message]) {
        assert.match(text ?? "\n", /^[^\p{Cc}\p{Cs}]*$/u)
        assert.isAtMost(text?.length ?? 0, 502)
      }
    },
  )
})

effect("cuts no path inside a character", function* () {
  const name = `${"a".repeat(199)}🪨`
  const [issue] = issuesOf(yield* Effect.flip(Schema.decodeUnknownEffect(RoomBody, strict)({ [name]: 1 })))
  assert.strictEqual(issue?.path, `${"a".repeat(199)}\ufffd`)
})

effect("names twenty issues of a thousand, each with a short path and sentence", function* () {
  const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${index}${"x".repeat(1_000)}`, 1]))
  const issues = issuesOf(yield* Effect.flip(Schema.decodeUnknownEffect(RoomBody, strict)(body)))
  assert.lengthOf(issues, 20)
  for (const { message, path } of issues) {
    assert.isAtMost(message.length, 300)
    assert.isAtMost(path.length, 200)
  }
})
