/** How old a cached answer may be, by its headers: `log join` refuses a checkpoint that caches may keep. */
import { assert, describe, it } from "@effect/vitest"
import { staleness } from "../../src/cli/log/ServedLog.ts"

describe("an answer", () => {
  for (const [caching, seconds] of [
    ["no-cache", 0],
    ["No-Store, Max-Age=3600", 0],
    ["max-age=5", 5],
    ["max-age=5, stale-while-revalidate=60", 65],
    ["public, Max-Age=3600", 3600],
    ['max-age="3600"', 3600],
    ['max-age=3600, no-cache="set-cookie"', 3600],
    ["s-maxage=86400, no-cache", 86_400],
    ["max-age=soon", Number.POSITIVE_INFINITY],
    ["max-age", Number.POSITIVE_INFINITY],
    ["public", Number.POSITIVE_INFINITY],
    [undefined, Number.POSITIVE_INFINITY],
  ] as const) {
    it(`may be ${seconds} seconds old with the cache-control ${caching}`, () => {
      assert.strictEqual(staleness({ "cache-control": caching }), seconds)
    })
  }

  it("is as old as its age", () => {
    assert.strictEqual(staleness({ "cache-control": "no-cache", age: "600" }), 600)
  })
})
