/** Random sequences of requests to a real server, each answer foretold by a small model of rooms and exact windows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stories } from "./Rooms.ts"
import { check, timeLimit } from "./Story.ts"

describe("the signal room", () => {
  it.live(
    "answers every request of random stories as its model says, limits to the millisecond",
    () =>
      Effect.gen(function* () {
        assert.isAbove(yield* check(stories), 0)
      }),
    timeLimit,
  )
})
