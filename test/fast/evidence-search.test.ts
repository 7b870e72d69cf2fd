/** How long evidence waits for a submitted transaction, and where it searches for the log that ended an authorization. */
import { assert, describe, it } from "../lab/It.ts"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Block, EvidenceNode } from "../../src/payments/x402/chain/Rpc.ts"
import {
  blockAt,
  elsewhere,
  evidenceOf,
  discovered,
  foundIs,
  look,
  named,
  open,
  paid,
  receipt,
  spent,
  transfer,
  usedAnd,
} from "../lab/ScriptedEvidence.ts"
import { authorization } from "../lab/TransferLogs.ts"

describe("a transaction that was just submitted", () => {
  const minedAfter = (seconds: number) => {
    let asked = 0
    return evidenceOf(
      {},
      {
        receiptOf: () =>
          Effect.clockWith((clock) => {
            asked += 1
            if (clock.currentTimeMillisUnsafe() >= seconds * 1_000) return Effect.succeedSome(receipt(transfer))
            return asked % 2 === 0 ? Effect.fail("no answer" as const) : Effect.succeedNone
          }),
      },
    )
  }
  const waiting = { ...look, patience: Duration.seconds(20) }

  it.effect("is awaited through missing answers, and found within a second of its arrival", function* () {
    const search = yield* Effect.forkChild(minedAfter(6).evidence(waiting))
    yield* TestClock.adjust("6 seconds")
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Fiber.join(search), paid(named))
  })

  it.effect("is not awaited to the end where another transaction has paid", function* () {
    const { evidence } = evidenceOf(usedAnd(foundIs(receipt(transfer))))
    const search = yield* Effect.forkChild(evidence(waiting))
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(yield* Fiber.join(search), paid(discovered))
  })

  it.effect("is awaited although another use of its authorization ended it, maybe a stale node's word", function* () {
    const search = yield* Effect.forkChild(evidenceOf(usedAnd(foundIs(receipt(elsewhere)))).evidence(waiting))
    yield* TestClock.adjust("19999 millis")
    assert.isUndefined(search.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* Fiber.join(search), spent)
  })

  it.effect("is abandoned at the end of the timeout, and its authorization is checked instead", function* () {
    const search = yield* Effect.forkChild(minedAfter(21).evidence(waiting))
    yield* TestClock.adjust("19999 millis")
    assert.isUndefined(search.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* Fiber.join(search), open(true))
  })
})

describe("the search for the log that ended an authorization", () => {
  type Questions = Array<readonly [from: bigint, to: bigint, newestFirst: boolean]>
  const asked = Effect.fnUntraced(function* (
    newest: Block,
    search: (of: ReturnType<typeof evidenceOf>) => Effect.Effect<unknown, "no answer">,
  ) {
    const questions: Questions = []
    const endsOf: EvidenceNode<"no answer">["endsOf"] = (_, { from, to }, newestFirst) => {
      questions.push([from, to, newestFirst])
      return Effect.succeed([])
    }
    yield* search(evidenceOf(usedAnd({ newest }), { endsOf }))
    return questions
  })

  it.effect("begins at the given block, or goes back from the newest one to the earliest possible one", function* () {
    const late = { ...authorization, validBefore: 100_000n, validAfter: 0n }
    const asking = (newest: Block, one: typeof late) => asked(newest, ({ usedBy }) => usedBy(one))
    const newest = blockAt(90_000n, 99_000n)
    assert.deepStrictEqual(yield* asked(blockAt(10n), ({ evidence }) => evidence(look)), [[3n, 10n, false]])
    // Signed for a day at most: from second 13 600 on, one block a second.
    assert.deepStrictEqual(yield* asking(newest, late), [[90_000n - (99_000n - 13_600n), 90_000n, true]])
    assert.deepStrictEqual(yield* asking(newest, { ...late, validAfter: 98_000n }), [[89_000n, 90_000n, true]])
    assert.deepStrictEqual(yield* asking(blockAt(50n, 99_000n), late), [[0n, 50n, true]])
  })
})
