/** A body that is wrong in a thousand places does not buy an answer of a thousand lines. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { RoomBody } from "../../schema/room/Room.ts"
import { issuesOf } from "../../src/platform/Issues.ts"

it.effect("twenty issues are told of a thousand, each with a short place and sentence", () =>
  Effect.gen(function* () {
    const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${index}${"x".repeat(1_000)}`, 1]))
    const decode = Schema.decodeUnknownEffect(RoomBody, { onExcessProperty: "error", errors: "all" })
    const issues = issuesOf(yield* Effect.flip(decode(body)))
    assert.lengthOf(issues, 20)
    for (const { message, path } of issues) {
      assert.isAtMost(message.length, 300)
      assert.isAtMost(path.length, 200)
    }
  }),
)
