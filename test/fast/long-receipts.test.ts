/** The search for what became of an authorization: patient, bounded, in final blocks, and sparing with long receipts. */
import { Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Hex } from "viem"
import * as Evidence from "../../src/payments/chain/Evidence.ts"
import * as LongReceipts from "../../src/payments/chain/LongReceipts.ts"
import { alreadyUsed } from "../../src/payments/chain/Eip3009.ts"
import {
  blockAt,
  elsewhere,
  found,
  look,
  named,
  nothing,
  open,
  paid,
  receipt,
  scripted,
  transfer,
  usedAnd,
} from "../lab/ScriptedEvidence.ts"
import { authorization, logsOf, word } from "../lab/TransferLogs.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

describe("a node that does not answer", () => {
  const silent = Effect.fail("no answer" as const)
  const questions: Record<"heads" | "state" | "logs" | "receipt", Partial<Evidence.Node<"no answer">>> = {
    heads: { heads: silent },
    state: { stateAt: () => silent },
    logs: { logsOf: () => silent },
    receipt: { receiptOf: () => silent },
  }
  effect.each(Object.entries(questions))(
    "when asked for the %s proves nothing, and fails the inquiry",
    function* ([, change]) {
      const node = { ...scripted(usedAnd({ receipts: { [found]: receipt(elsewhere) } })), ...change }
      assert.strictEqual(yield* Effect.flip(Evidence.make(node).evidence(look)), "no answer")
    },
  )
})

describe("a transaction that was just submitted", () => {
  const minedAfter = (seconds: number): Evidence.Node<"no answer"> => {
    let asked = 0
    return {
      ...scripted({}),
      receiptOf: () =>
        Effect.clockWith((clock) => {
          asked += 1
          if (clock.currentTimeMillisUnsafe() >= seconds * 1_000) return Effect.succeedSome(receipt(transfer))
          return asked % 2 === 0 ? Effect.fail("no answer" as const) : Effect.succeedNone
        }),
    }
  }
  const waiting = { ...look, patience: Duration.seconds(20) }

  effect("is awaited through missing answers, and found within a second of its arrival", function* () {
    const search = yield* Effect.forkChild(Evidence.make(minedAfter(6)).evidence(waiting))
    yield* TestClock.adjust("6 seconds")
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Fiber.join(search), paid(named))
  })

  effect("is abandoned at the end of the timeout, and its authorization is checked instead", function* () {
    const search = yield* Effect.forkChild(Evidence.make(minedAfter(21)).evidence(waiting))
    yield* TestClock.adjust("19999 millis")
    assert.isUndefined(search.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* Fiber.join(search), open(true))
  })
})

describe("the search for the log that ended an authorization", () => {
  const asked = Effect.fnUntraced(function* (
    newest: Evidence.Block,
    search: (of: ReturnType<typeof Evidence.make<"no answer">>) => Effect.Effect<unknown, "no answer">,
  ) {
    const questions: Array<readonly [from: bigint, to: bigint, newestFirst: boolean]> = []
    const node = scripted(usedAnd({ newest }))
    yield* search(
      Evidence.make({
        ...node,
        logsOf: (_, { from, to }, newestFirst) => {
          questions.push([from, to, newestFirst])
          return Effect.succeed([])
        },
      }),
    )
    return questions
  })

  effect("begins at the given block, or goes back from the newest one to the earliest possible one", function* () {
    const late = { ...authorization, validBefore: 100_000n, validAfter: 0n }
    const asking = (newest: Evidence.Block, one: typeof late) => asked(newest, ({ usedBy }) => usedBy(one))
    const newest = blockAt(90_000n, 99_000n)
    assert.deepStrictEqual(yield* asked(blockAt(10n), ({ evidence }) => evidence(look)), [[3n, 10n, false]])
    // Signed for a day at most: from second 13 600 on, one block a second.
    assert.deepStrictEqual(yield* asking(newest, late), [[90_000n - (99_000n - 13_600n), 90_000n, true]])
    assert.deepStrictEqual(yield* asking(newest, { ...late, validAfter: 98_000n }), [[89_000n, 90_000n, true]])
    assert.deepStrictEqual(yield* asking(blockAt(50n, 99_000n), late), [[0n, 50n, true]])
  })
})

describe("a transaction", () => {
  effect("is spelled in lower case in evidence, however settlement spelled it", function* () {
    const capitals: Hex = `0x${"A".repeat(64)}`
    const { evidence } = Evidence.make(scripted({ receipts: { [capitals]: receipt(transfer) } }))
    assert.deepStrictEqual(yield* evidence({ ...look, transaction: Option.some(capitals) }), paid(word("a")))
  })
})

const { canceled } = logsOf()

const scene = (isLong: boolean) => {
  const now = { block: blockAt(12n), final: blockAt(9n), read: 0 }
  const { evidence } = Evidence.make<never>({
    heads: Effect.sync(() => ({ newest: blockAt(20n), final: now.final })),
    finalAnd: (number) => Effect.sync(() => ({ final: now.final, there: blockAt(number), again: now.final })),
    receiptOf: () =>
      Effect.sync(() => {
        now.read += 1
        return Option.some({ block: now.block, succeeded: true, logs: [canceled], isLong })
      }),
    stateAt: () => Effect.succeed({ used: true, revert: Option.some(alreadyUsed) }),
    logsOf: () => Effect.sync(() => [{ transaction: word("2"), blockHash: now.block.hash }]),
  })
  const look = (one = authorization) =>
    evidence({ authorization: one, fromBlock: 0n, transaction: Option.none(), patience: Duration.zero })
  return { now, look }
}

const undecided = { ...nothing, ended: "authorization_canceled" } as const
const over = { _tag: "Void", reason: "authorization_canceled", transaction: word("2") } as const

describe("a receipt", () => {
  effect(
    "that is long is read once before its block is final, once afterwards and once in another block, by all callers together",
    function* () {
      const { look: lookAt, now } = scene(true)
      for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* lookAt(), undecided)
      for (const digit of ["1", "2"])
        assert.deepStrictEqual(yield* lookAt({ ...authorization, nonce: word(digit) }), nothing)
      assert.strictEqual(now.read, 1)
      now.block = blockAt(13n)
      assert.deepStrictEqual(yield* lookAt(), undecided)
      assert.strictEqual(now.read, 2)
      now.final = blockAt(15n)
      for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* lookAt(), over)
      assert.strictEqual(now.read, 3)
    },
  )

  effect("of usual length is read at every inquiry, because another node may answer", function* () {
    const { look: lookAt, now } = scene(false)
    for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* lookAt(), undecided)
    assert.strictEqual(now.read, 3)
  })

  effect("that is long is evicted when the cache is full", () =>
    Effect.sync(() => {
      const kept = LongReceipts.make()
      const many = {
        block: blockAt(1n),
        succeeded: true,
        logs: Array.from({ length: 9_000 }, () => canceled),
        isLong: true,
      }
      const find = (transaction: Hex) => kept.find({ transaction, blockHash: many.block.hash })
      for (const digit of ["1", "2", "3"]) kept.note(word(digit), many, false)
      assert.isUndefined(find(word("1")))
      assert.isDefined(find(word("2")))
      assert.isDefined(find(word("3")))
      // Noted again, it weighs what it weighed before.
      for (const _ of [1, 2, 3]) kept.note(word("3"), many, true)
      assert.isDefined(find(word("2")))
      assert.isTrue(find(word("3"))?.isFinal)
    }),
  )
})
