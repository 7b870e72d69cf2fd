/** Random sequences of requests, faults and time against a real server, each answer foretold by a small model of the state table. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stories } from "./Altar.ts"
import { check, timeLimit } from "./Story.ts"

describe("the altar", () => {
  it.live.each(["relayer", "facilitator", "cards"] as const)(
    "answers random stories as its model says: %s",
    (kind) =>
      Effect.gen(function* () {
        assert.isAbove(yield* check(stories(kind)), 0)
      }),
    timeLimit,
  )
})
