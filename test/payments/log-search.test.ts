/** A search for logs asks for as many blocks as its provider takes, and misses none of them. */
import { Effect } from "effect"
import * as LogSearch from "../../src/payments/x402/evidence/LogSearch.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

/** A provider that takes so many blocks at once, and holds logs in these blocks. */
const provider = (held: ReadonlyArray<bigint>) => {
  const asked: Array<LogSearch.BlockRange> = []
  const state = { most: 2_000n }
  const ask = (range: LogSearch.BlockRange) => {
    asked.push(range)
    return range.to - range.from < state.most
      ? Effect.succeed(held.filter((block) => block >= range.from && block <= range.to))
      : Effect.fail("too wide")
  }
  return { ask, asked, state }
}

const whole = { from: 1_000n, to: 60_000n }

/** Every block was answered for exactly once, in order. */
const assertGapless = (asked: ReadonlyArray<LogSearch.BlockRange>, most: bigint, newestFirst: boolean) => {
  const answered = asked.filter(({ from, to }) => to - from < most)
  const inOrder = newestFirst ? answered.toReversed() : answered
  assert.strictEqual(inOrder[0]?.from, whole.from)
  assert.strictEqual(inOrder.at(-1)?.to, whole.to)
  for (const [index, { from }] of inOrder.entries()) {
    if (index > 0) assert.strictEqual(from, (inOrder[index - 1]?.to ?? 0n) + 1n)
  }
}

describe("a search for logs", () => {
  for (const most of [100_000n, 10_000n, 500n, 10n]) {
    effect(`fits a provider that allows ${most} blocks, from either end`, function* () {
      const search = LogSearch.make<string>(() => true)
      for (const newestFirst of [false, true]) {
        const { ask, asked, state } = provider([])
        state.most = most
        assert.deepStrictEqual(yield* search(ask, whole, newestFirst), [])
        assertGapless(asked, most, newestFirst)
        const refused = asked.filter(({ from, to }) => to - from >= most)
        assert.isAtMost(refused.length, 11 + asked.length / 4, "few questions are refused")
      }
    })
  }

  effect("finds the oldest logs first, or the newest", function* () {
    const search = LogSearch.make<string>(() => true)
    const { ask, state } = provider([2_000n, 59_000n])
    state.most = 100n
    assert.deepStrictEqual(yield* search(ask, whole, false), [2_000n])
    assert.deepStrictEqual(yield* search(ask, whole, true), [59_000n])
  })

  effect("is not narrowed by a time without any answer", function* () {
    const search = LogSearch.make<string>(() => true)
    const { ask, asked, state } = provider([])
    state.most = 0n
    assert.strictEqual(yield* Effect.flip(search(ask, whole, false)), "too wide")
    asked.length = 0
    state.most = 100_000n
    yield* search(ask, whole, false)
    assert.isBelow(asked.length, 25)
  })

  effect("does not halve a range that was refused for another reason", function* () {
    const search = LogSearch.make<string>((error) => error !== "too wide")
    const { ask, asked, state } = provider([])
    state.most = 1n
    assert.strictEqual(yield* Effect.flip(search(ask, whole, false)), "too wide")
    assert.strictEqual(asked.length, 1)
  })
})
