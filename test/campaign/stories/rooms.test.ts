/** Random sequences of requests to a real server, each answer foretold by a small model of rooms and exact windows. */
import { stories } from "./Rooms.ts"
import { check, timeLimit } from "./Story.ts"
import { assert, describe, live } from "../../lab/Suites.ts"

describe("the signal room", () => {
  live(
    "answers every request of random stories as its model says, limits to the millisecond",
    function* () {
      assert.isAbove(yield* check(stories), 0)
    },
    timeLimit,
  )
})
