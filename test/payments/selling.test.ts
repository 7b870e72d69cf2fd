/** How soon a pause of sales is known, by a clock that stands still between the questions. */
import { Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Selling } from "../../src/payments/ledger/Selling.ts"
import { database, sql } from "../lab/Database.ts"
import { assert, suite } from "../lab/Suites.ts"

const selling = Selling.layer.pipe(Layer.provideMerge(sql), Layer.provide(database), Layer.orDie)

suite(
  "the pause of sales",
  selling,
  (it) => {
    it("is known two seconds after it began and after it ended, and costs no question before", function* () {
      const { pause, paused, resume } = yield* Selling
      assert.deepStrictEqual(yield* paused, Option.none())
      assert.isTrue(yield* pause("stock-taking"))
      assert.isFalse(yield* pause("again"))
      yield* TestClock.adjust(1999)
      assert.deepStrictEqual(yield* paused, Option.none(), "an answer is reused for two seconds")
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* paused, Option.some("stock-taking"))
      assert.isTrue(yield* resume)
      assert.isFalse(yield* resume)
      yield* TestClock.adjust(2000)
      assert.deepStrictEqual(yield* paused, Option.none())
    })
  },
  { excludeTestServices: false },
)
