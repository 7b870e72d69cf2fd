/** How old a cached answer may be, by its headers: `log join` refuses a checkpoint that caches may keep. */
import { assert, describe, it } from "@effect/vitest"
import { staleness } from "../../src/cli/log/ServedLog.ts"

describe("an answer", () => {
  it.each([
    ["no-cache", 0],
    ["No-Store, Max-Age=3600", 0],
    ["max-age=5, stale-while-revalidate=60", 65],
    ['max-age="3600"', 3600],
    ['max-age=3600, no-cache="set-cookie"', 3600],
    ["s-maxage=86400, no-cache", 86_400],
    ["max-age=soon", Number.POSITIVE_INFINITY],
    [undefined, Number.POSITIVE_INFINITY],
  ])("with the cache-control %s may be %d seconds old, and is as old as its age", (caching, seconds) => {
    assert.strictEqual(staleness({ "cache-control": caching }), seconds)
    assert.strictEqual(staleness({ "cache-control": caching, age: "600" }), Math.max(seconds, 600))
  })
})
