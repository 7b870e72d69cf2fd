/** The answers in docs/payment-protocol.md, row by row: what a scripted node answers, and what follows from it. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { encodeEventTopics, type Hex, numberToHex, pad, parseAbi } from "viem"
import {
  alreadyUsed,
  type Log,
  type SignedAuthorization,
  tooPoor,
} from "../../src/payments/x402/verification/Eip3009.ts"
import * as Evidence from "../../src/payments/x402/evidence/Evidence.ts"

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
const word = (digit: string): Hex => `0x${digit.repeat(64)}`

const authorization: SignedAuthorization = {
  asset: address("a"),
  from: address("b"),
  to: address("c"),
  value: 10_000n,
  validAfter: 0n,
  validBefore: 2_000n,
  nonce: word("d"),
  signature: `0x${"e".repeat(130)}`,
}

const abi = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
])
/** Topics of an event with one value each. */
const plain = (topics: ReadonlyArray<Hex | ReadonlyArray<Hex> | null>) => topics.flatMap((topic) => topic ?? [])

const ended = (eventName: "AuthorizationUsed" | "AuthorizationCanceled"): Log => ({
  address: authorization.asset,
  topics: plain(
    encodeEventTopics({
      abi,
      eventName,
      args: { authorizer: authorization.from, nonce: authorization.nonce },
    }),
  ),
  data: "0x",
})
const moved = (value: bigint): Log => ({
  address: authorization.asset,
  topics: plain(
    encodeEventTopics({
      abi,
      eventName: "Transfer",
      args: { from: authorization.from, to: authorization.to },
    }),
  ),
  data: pad(numberToHex(value)),
})
const transfer = [ended("AuthorizationUsed"), moved(authorization.value)]
const elsewhere = [ended("AuthorizationUsed"), moved(1n)]
const canceled = [ended("AuthorizationCanceled")]

const named = word("1")
const found = word("2")
/** Block 7 is final, 9 is not. */
const blockAt = (number: bigint, timestamp = 1_000n): Evidence.Block => ({
  number,
  hash: pad(numberToHex(number)),
  timestamp,
})
const receipt = (logs: ReadonlyArray<Log>, change: Partial<Evidence.Receipt> = {}): Evidence.Receipt => ({
  block: { number: 7n, hash: blockAt(7n).hash },
  succeeded: true,
  logs,
  ...change,
})

/** What a node says; what a row leaves out is as it is before anything has happened. */
interface Answers {
  readonly newest?: Evidence.Block
  readonly final?: Evidence.Block
  readonly receipts?: Readonly<Record<Hex, Evidence.Receipt>>
  readonly used?: boolean
  readonly revert?: string
  /** The same at the final block; null where the node does not keep its state. */
  readonly revertAtFinal?: string | null | undefined
  readonly logs?: ReadonlyArray<Evidence.FoundLog>
  /** The hash of the block that has a receipt's number now. */
  readonly there?: Hex
  /** The hash that the node which says so has at the number of the final block. */
  readonly again?: Hex
}

const scripted = (answers: Answers): Evidence.Node<"no answer"> => {
  const { final = blockAt(8n), newest = blockAt(10n) } = answers
  return {
    heads: Effect.succeed({ newest, final }),
    finalAnd: (number) =>
      Effect.succeed({
        final,
        there: { ...blockAt(number), hash: answers.there ?? blockAt(number).hash },
        again: { ...final, hash: answers.again ?? final.hash },
      }),
    receiptOf: (transaction) => Effect.succeed(Option.fromNullishOr(answers.receipts?.[transaction])),
    stateAt: (_, { hash }) => {
      const revert = hash === final.hash && "revertAtFinal" in answers ? answers.revertAtFinal : answers.revert
      return revert === null
        ? Effect.fail("no answer" as const)
        : Effect.succeed({ used: answers.used ?? false, revert: Option.fromNullishOr(revert) })
    },
    logsOf: () => Effect.succeed(answers.logs ?? []),
  }
}

const look: Evidence.Search = {
  authorization,
  fromBlock: 3n,
  transaction: Option.some(named),
  patience: Duration.zero,
}

const open = (unused: boolean, reverts = false): Evidence.Evidence => ({ _tag: "Open", unused, reverts })
const nothing = open(false)
const paid = (transaction: Hex): Evidence.Evidence => ({
  _tag: "Paid",
  transaction,
  block: { number: 7n, hash: blockAt(7n).hash },
})
/** By a block that may still be taken back. */
const spentForNow: Evidence.Evidence = {
  _tag: "Open",
  unused: false,
  reverts: false,
  ended: "authorization_spent_elsewhere",
}
const spent: Evidence.Evidence = { _tag: "Void", reason: "authorization_spent_elsewhere", transaction: found }

const log = { transaction: found, blockHash: blockAt(7n).hash }
const expired = "invalid_exact_evm_payload_authorization_valid_before"
/** Both heads are past the signed end. */
const over = { newest: blockAt(10n, 2_010n), final: blockAt(8n, 2_000n), revert: expired }
/** Used, the log found, and whatever else a row says. */
const usedAnd = (answers: Answers): Answers => ({ used: true, revert: alreadyUsed, logs: [log], ...answers })

const poor = { revert: tooPoor }
const couldNotPay: Evidence.Evidence = { _tag: "Open", unused: true, reverts: true, couldNotPay: true }

const rows: ReadonlyArray<readonly [when: string, answers: Answers, follows: Evidence.Evidence]> = [
  ["the named transaction's receipt shows our transfer", { receipts: { [named]: receipt(transfer) } }, paid(named)],
  ["the named transaction is not there", {}, open(true)],
  [
    "the named transaction is not there and a log names another one that paid us",
    usedAnd({ receipts: { [found]: receipt(transfer) } }),
    paid(found),
  ],
  [
    "the named transaction's receipt has reverted",
    { receipts: { [named]: receipt(transfer, { succeeded: false }) } },
    open(true),
  ],
  [
    "the named transaction's receipt shows a transfer of another value",
    { receipts: { [named]: receipt(elsewhere) } },
    open(true),
  ],
  [
    "the named transaction's receipt shows the transfer of another token",
    { receipts: { [named]: receipt(transfer.map((one) => ({ ...one, address: address("f") }))) } },
    open(true),
  ],
  [
    "it is unused, before its end, and its dry run is refused",
    { revert: "invalid_exact_evm_insufficient_balance" },
    open(true, true),
  ],
  [
    "its named transaction is final without our transfer, and its wallet was too poor there and is now",
    { ...poor, receipts: { [named]: receipt(elsewhere) } },
    couldNotPay,
  ],
  [
    "its named transaction has reverted in a final block, and its wallet was too poor there and is now",
    { ...poor, receipts: { [named]: receipt([], { succeeded: false }) } },
    couldNotPay,
  ],
  [
    "its wallet is too poor, and its named transaction is not final",
    { ...poor, receipts: { [named]: receipt(elsewhere, { block: blockAt(9n) }) } },
    open(true, true),
  ],
  [
    "its wallet is too poor, and the number of its named transaction's block belongs to another one by now",
    { ...poor, receipts: { [named]: receipt(elsewhere) }, there: word("9") },
    open(true, true),
  ],
  ["its wallet is too poor, and its named transaction is in no block", poor, open(true, true)],
  [
    "its wallet is too poor now, and could pay at the final block",
    { ...poor, receipts: { [named]: receipt(elsewhere) }, revertAtFinal: undefined },
    open(true, true),
  ],
  [
    "its wallet was too poor at the final block, and can pay now",
    { receipts: { [named]: receipt(elsewhere) }, revertAtFinal: tooPoor },
    open(true),
  ],
  [
    "its wallet is too poor now, and the node keeps no state of the final block",
    { ...poor, receipts: { [named]: receipt(elsewhere) }, revertAtFinal: null },
    open(true, true),
  ],
  [
    "its named transaction is final without our transfer, and the transfer reverts for another reason",
    { revert: "invalid_exact_evm_signature", receipts: { [named]: receipt(elsewhere) } },
    open(true, true),
  ],
  [
    "it is unused and past its end at the newest block, but not at the final one",
    { newest: blockAt(10n, 2_000n), final: blockAt(8n, 1_999n), revert: expired },
    open(true),
  ],
  [
    "it is unused, a final block is past its end, its dry run is refused and there is no log",
    over,
    { _tag: "Void", reason: "authorization_expired" },
  ],
  [
    "it is unused and a final block is past its end, but its dry run passes",
    { newest: over.newest, final: over.final },
    nothing,
  ],
  [
    "it is unused and past its end, but a log ends it",
    { ...over, logs: [log], receipts: { [found]: receipt(elsewhere) } },
    nothing,
  ],
  [
    "it is unused and past its end, but a log's receipt shows our transfer",
    { ...over, logs: [log], receipts: { [found]: receipt(transfer) } },
    paid(found),
  ],
  ["the final block is above the newest one", { ...over, newest: blockAt(7n, 2_010n) }, nothing],
  ["it is unused, but its dry run says that it is used", { revert: alreadyUsed }, nothing],
  ["it is used, but its dry run passes", { used: true }, nothing],
  ["it is used and no log is found", usedAnd({ logs: [] }), nothing],
  ["it is used and its log's receipt is missing", usedAnd({}), nothing],
  ["it is used, for somebody else, in a final block", usedAnd({ receipts: { [found]: receipt(elsewhere) } }), spent],
  [
    "it is cancelled in a final block",
    usedAnd({ receipts: { [found]: receipt(canceled) } }),
    { _tag: "Void", reason: "authorization_canceled", transaction: found },
  ],
  [
    "it is used for somebody else in a block that is not final",
    usedAnd({
      logs: [{ transaction: found, blockHash: blockAt(9n).hash }],
      receipts: { [found]: receipt(elsewhere, { block: blockAt(9n) }) },
    }),
    spentForNow,
  ],
  [
    "it is used for somebody else and its block's number belongs to another block by now",
    usedAnd({ receipts: { [found]: receipt(elsewhere) }, there: word("9") }),
    spentForNow,
  ],
  [
    "it is used for somebody else, by a node whose branch does not hold the final block",
    usedAnd({ receipts: { [found]: receipt(elsewhere) }, again: word("9") }),
    spentForNow,
  ],
  [
    "it is used for somebody else and the receipt is of another block than the log",
    usedAnd({ receipts: { [found]: receipt(elsewhere, { block: blockAt(6n) }) } }),
    nothing,
  ],
  [
    "it is used and the receipt of its log has reverted",
    usedAnd({ receipts: { [found]: receipt(elsewhere, { succeeded: false }) } }),
    nothing,
  ],
  [
    "it is used and the receipt of its log does not hold that log",
    usedAnd({ receipts: { [found]: receipt([]) } }),
    nothing,
  ],
]

const nameOf = (evidence: Evidence.Evidence) => {
  if (evidence._tag === "Paid") return "it is paid"
  if (evidence._tag === "Void") return `it can never be paid (${evidence.reason})`
  if (evidence.couldNotPay === true) return "its wallet could not pay"
  if (evidence.ended !== undefined) return `nothing follows yet (${evidence.ended})`
  return evidence.unused ? `it is open${evidence.reverts ? " and would revert" : ""}` : "nothing follows"
}

describe("when of an authorization", () => {
  for (const [when, answers, follows] of rows) {
    // I17, I18
    it.effect(`${when}, ${nameOf(follows)}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* Evidence.make(scripted(answers)).evidence(look), follows)
      }),
    )
  }

  const paidBefore = (block: bigint) =>
    Evidence.make(scripted({ newest: blockAt(10n) })).evidence({ ...look, foundIn: Option.some(block) })

  it.effect("it is unused, by a node below the block that has held its transfer, nothing follows", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* paidBefore(11n), nothing)
      assert.deepStrictEqual(yield* paidBefore(10n), open(true))
    }),
  )
})

describe("a node that does not answer", () => {
  const silent = Effect.fail("no answer" as const)
  const questions: Record<"heads" | "state" | "logs" | "receipt", Partial<Evidence.Node<"no answer">>> = {
    heads: { heads: silent },
    state: { stateAt: () => silent },
    logs: { logsOf: () => silent },
    receipt: { receiptOf: () => silent },
  }
  for (const [question, change] of Object.entries(questions)) {
    it.effect(`when asked for the ${question} proves nothing, and the look fails`, () =>
      Effect.gen(function* () {
        const node = { ...scripted(usedAnd({ receipts: { [found]: receipt(elsewhere) } })), ...change }
        assert.strictEqual(yield* Effect.flip(Evidence.make(node).evidence(look)), "no answer")
      }),
    )
  }
})

describe("a transaction that was just handed in", () => {
  /** Its receipt is there from this second on; until then the node fails and is empty by turns. */
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

  it.effect("is waited for through missing answers, and is found at most a second after it is there", () =>
    Effect.gen(function* () {
      const search = yield* Effect.forkChild(Evidence.make(minedAfter(6)).evidence(waiting))
      yield* TestClock.adjust("6 seconds")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(search), paid(named))
    }),
  )

  it.effect("is given up on at the end of patience, and the authorization is asked for", () =>
    Effect.gen(function* () {
      const search = yield* Effect.forkChild(Evidence.make(minedAfter(21)).evidence(waiting))
      yield* TestClock.adjust("19999 millis")
      assert.isUndefined(search.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Fiber.join(search), open(true))
    }),
  )
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

  it.effect("begins where it was told to and ends at the newest block", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(blockAt(10n), ({ evidence }) => evidence(look)), [[3n, 10n, false]])
    }),
  )

  it.effect("goes back from the newest block to the earliest one it may be in, where nothing is known of it", () =>
    Effect.gen(function* () {
      const late = { ...authorization, validBefore: 100_000n, validAfter: 0n }
      // Signed for a day at most: from second 13 600 on, one block a second.
      assert.deepStrictEqual(yield* asked(blockAt(90_000n, 99_000n), ({ usedBy }) => usedBy(late)), [
        [90_000n - (99_000n - 13_600n), 90_000n, true],
      ])
      const bounded = { ...late, validAfter: 98_000n }
      assert.deepStrictEqual(yield* asked(blockAt(90_000n, 99_000n), ({ usedBy }) => usedBy(bounded)), [
        [89_000n, 90_000n, true],
      ])
      assert.deepStrictEqual(yield* asked(blockAt(50n, 99_000n), ({ usedBy }) => usedBy(late)), [[0n, 50n, true]])
    }),
  )
})

describe("a block", () => {
  const finalOf = (answers: Answers) => Evidence.make(scripted(answers)).isFinal(blockAt(7n))

  it.effect("is final when its number is not above the final one and its hash is the one there", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* finalOf({}))
      assert.isTrue(yield* finalOf({ final: blockAt(7n) }))
      assert.isFalse(yield* finalOf({ final: blockAt(6n) }))
      assert.isFalse(yield* finalOf({ there: word("9") }))
      assert.isFalse(yield* finalOf({ again: word("9") }), "said by a node on another branch")
    }),
  )
})

describe("a transaction", () => {
  it.effect("stands in evidence in small letters, however settlement spelled it", () =>
    Effect.gen(function* () {
      const capitals: Hex = `0x${"A".repeat(64)}`
      const { evidence } = Evidence.make(scripted({ receipts: { [capitals]: receipt(transfer) } }))
      assert.deepStrictEqual(yield* evidence({ ...look, transaction: Option.some(capitals) }), paid(word("a")))
    }),
  )
})
