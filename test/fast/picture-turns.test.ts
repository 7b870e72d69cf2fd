/** The turns of pictures, which strangers may request: each leaves the processor to other requests. */
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Turns from "../../src/pages/pictures/Turns.ts"
import { assert, describe, it } from "../lab/It.ts"

/** The seconds at which works begin that each take a second; `end` ends the first after half of it. */
const begun = Effect.fnUntraced(function* (end: (first: Fiber.Fiber<unknown, unknown>) => Effect.Effect<unknown>) {
  const inTurn = yield* Turns.make
  const seconds: Array<number> = []
  const work = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    seconds.push(now / 1000)
    return Effect.sleep("1 second")
  })
  const [first, ...others] = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(inTurn(work)))
  yield* TestClock.adjust("500 millis")
  yield* end(first ?? assert.fail())
  yield* TestClock.adjust("20 seconds")
  for (const other of others) yield* Fiber.join(other)
  return seconds
})

describe("the turns of pictures", () => {
  it.effect("come one by one, with three times the duration of each between them", function* () {
    assert.deepStrictEqual(yield* begun(() => Effect.void), [0, 4, 8])
  })

  it.effect("rest as well after a picture whose reader left", function* () {
    assert.deepStrictEqual(yield* begun(Fiber.interrupt), [0, 2, 6])
  })

  it.effect("are refused while eight wait, and end ten seconds after they began to wait for a processor", function* () {
    const inTurn = yield* Turns.make
    const fibers = yield* Effect.forEach(Array.from({ length: Turns.mostWaiting + 1 }), () =>
      Effect.forkChild(Effect.flip(inTurn(Effect.never))),
    )
    yield* TestClock.adjust(Duration.seconds(1))
    assert.strictEqual(yield* Fiber.join(fibers.at(-1) ?? assert.fail()), "busy")
    yield* TestClock.adjust(Duration.seconds(9))
    assert.propertyVal(yield* Fiber.join(fibers[0] ?? assert.fail()), "_tag", "TimeoutError")
    yield* Effect.forEach(fibers, Fiber.interrupt)
  })
})
