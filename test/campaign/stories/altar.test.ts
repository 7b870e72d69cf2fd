/** Random sequences of requests, faults and time against a real server, each answer foretold by a small model of the state table. */
import { stories } from "./Altar.ts"
import { check, timeLimit } from "./Story.ts"
import { assert, describe, live } from "../../lab/Suites.ts"

describe("the altar", () => {
  live.each(["relayer", "facilitator"] as const)(
    "answers random stories as its model says: %s",
    function* (kind) {
      assert.isAbove(yield* check(stories(kind)), 0)
    },
    timeLimit,
  )
})
