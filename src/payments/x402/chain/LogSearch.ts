/** Searches logs in ranges that the provider accepts, and learns the accepted number of blocks from its refusals. */
import { Effect, Ref } from "effect"
import { isTooManyBlocks } from "./Questions.ts"
import type { BlockRange, ChainUnavailable } from "./Rpc.ts"

/** Blocks of the first query. Most providers accept as many. */
const firstSpan = 2_000n

/** Questions of one search. The next search of the same name goes on behind them. */
const questionsAtMost = 100

/** Searches whose place is remembered. Strangers may cause more. */
const namesAtMost = 10_000

/** Grows by an eighth after each answer, so that a provider seldom refuses. */
const wider = (span: bigint) => span + span / 8n + 1n

/** A search that remembers the accepted number of blocks. */
export const logSearch = () => {
  const spans = Ref.makeUnsafe(firstSpan)
  /** The first block that a search forwards has not seen, or where it found its log: a second inquiry must find it again. */
  const reached = new Map<string, bigint>()

  /** The logs of the first range that has any, from the oldest block forwards or from the newest backwards. */
  return Effect.fn("LogSearch.find")(function* <Log>(
    ask: (range: BlockRange) => Effect.Effect<ReadonlyArray<Log>, ChainUnavailable>,
    within: BlockRange,
    newestFirst: boolean,
    name = "",
  ): Effect.fn.Return<ReadonlyArray<Log>, ChainUnavailable> {
    let { from: low, to: high } = within
    if (!newestFirst) low = reached.get(name) ?? low
    if (reached.size > namesAtMost) reached.clear()
    for (let questions = 0; low <= high && questions < questionsAtMost; questions += 1) {
      const span = yield* Ref.get(spans)
      const whole = high - low < span
      const from = whole || !newestFirst ? low : high - span + 1n
      const to = whole || newestFirst ? high : low + span - 1n
      const answer = yield* Effect.result(ask({ from, to }))
      if (answer._tag === "Failure") {
        if (isTooManyBlocks(answer.failure) && from < to) {
          yield* Ref.set(spans, (to - from + 1n) / 2n)
          continue
        }
        // If a single block is refused, the range was not the reason.
        if (from === to) yield* Ref.set(spans, firstSpan)
        return yield* Effect.fail(answer.failure)
      }
      if (answer.success.length > 0) return answer.success
      if (!whole) yield* Ref.update(spans, wider)
      if (newestFirst) high = from - 1n
      else reached.set(name, (low = to + 1n))
    }
    if (low > high) reached.delete(name)
    return []
  })
}
