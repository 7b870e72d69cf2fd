/** However many requests wait for the database, two statements are under way, and 64 requests share one at most. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Gather from "../../src/platform/Gather.ts"

it.effect("three hundred requests at once share few statements, two at a time, and each has its own answer", () =>
  Effect.gen(function* () {
    const sizes: Array<number> = []
    let [running, highest] = [0, 0]
    const ask = yield* Gather.make({
      run: (numbers: ReadonlyArray<number>) =>
        Effect.gen(function* () {
          sizes.push(numbers.length)
          running += 1
          highest = Math.max(highest, running)
          for (let times = 0; times < 10; times += 1) yield* Effect.yieldNow
          running -= 1
          return numbers
        }),
    })
    const numbers = Array.from({ length: 300 }, (_, index) => index)
    assert.deepStrictEqual(yield* Effect.forEach(numbers, ask, { concurrency: "unbounded" }), numbers)
    assert.deepStrictEqual([highest, Math.max(...sizes)], [2, 64])
    assert.isBelow(sizes.length, 10)
  }).pipe(Effect.scoped),
)
