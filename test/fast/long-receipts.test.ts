/** Logs of a transaction as bytes, what they pay, and receipts whose length a stranger chose. */
import { randomBytes } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { encodeEventTopics, encodeFunctionData, type Hex, numberToHex, pad, parseAbi, toEventSelector } from "viem"
import * as Evidence from "../../src/payments/x402/evidence/Evidence.ts"
import * as LongReceipts from "../../src/payments/x402/evidence/LongReceipts.ts"
import { ownLogs } from "../../src/payments/x402/evidence/LongReceipts.ts"
import {
  alreadyUsed,
  authorizationStateData,
  balanceData,
  endIn,
  endingLogs,
  endTopics,
  type Log,
  pays,
  settlementCall,
  type SignedAuthorization,
} from "../../src/payments/x402/verification/Eip3009.ts"

const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
])

const newHex = (bytes: number): Hex => `0x${randomBytes(bytes).toString("hex")}`
const most = 2n ** 256n - 1n

const authorizationOf = (signatureBytes: number, number?: bigint): SignedAuthorization => ({
  asset: newHex(20),
  from: newHex(20),
  to: newHex(20),
  value: number ?? BigInt(newHex(9)),
  validAfter: number ?? 0n,
  validBefore: number ?? BigInt(newHex(5)),
  nonce: newHex(32),
  signature: newHex(signatureBytes),
})

const some = [
  ...[0, 1, 31, 32, 33, 64, 65, 96, 700, 4096].map((bytes) => authorizationOf(bytes)),
  authorizationOf(65, most),
  authorizationOf(65, 0n),
]

describe("an authorization as bytes", () => {
  it("is viem's call of the transfer, for signatures of every length", () => {
    for (const one of some) {
      const { asset, from, nonce, signature, to, validAfter, validBefore, value } = one
      const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
      const data = encodeFunctionData({ abi, functionName: "transferWithAuthorization", args })
      assert.deepStrictEqual(settlementCall(one), { to: asset, data })
    }
  })

  it("is viem's calls of state and balance, and viem's topics", () => {
    for (const { from, nonce, ...rest } of some) {
      const args = { authorizer: from, nonce }
      assert.strictEqual(
        authorizationStateData(from, nonce),
        encodeFunctionData({ abi, functionName: "authorizationState", args: [from, nonce] }),
      )
      assert.strictEqual(balanceData(from), encodeFunctionData({ abi, functionName: "balanceOf", args: [from] }))
      const [used, ...indexed] = encodeEventTopics({ abi, eventName: "AuthorizationUsed", args })
      const [canceled] = encodeEventTopics({ abi, eventName: "AuthorizationCanceled", args })
      assert.deepStrictEqual(endTopics({ from, nonce, ...rest }), [[used, canceled], ...indexed])
    }
  })
})

describe("the logs of a transaction", () => {
  const one = authorizationOf(65)
  const word = (value: Hex) => pad(value, { size: 32 })
  const used = (nonce: Hex = one.nonce, from: Hex = one.from): Log => ({
    address: one.asset,
    topics: [toEventSelector("AuthorizationUsed(address,bytes32)"), word(from), nonce],
    data: "0x",
  })
  const moved = (change: Partial<Pick<SignedAuthorization, "asset" | "from" | "to" | "value">> = {}): Log => {
    const { asset, from, to, value } = { ...one, ...change }
    return {
      address: asset,
      topics: [toEventSelector("Transfer(address,address,uint256)"), word(from), word(to)],
      data: numberToHex(value, { size: 32 }),
    }
  }
  const elsewhere = moved({ asset: newHex(20), to: newHex(20) })

  it.each<readonly [what: string, logs: ReadonlyArray<Log>]>([
    ["its use and its transfer", [used(), moved()]],
    ["its transfer behind a log of another contract", [used(), elsewhere, moved()]],
    ["its own among those of others", [used(newHex(32)), moved({ to: newHex(20) }), used(), moved()]],
  ])("pay an authorization by %s", (_, logs) => {
    assert.isTrue(pays(logs, one))
  })

  it.each<readonly [what: string, logs: ReadonlyArray<Log>]>([
    ["a transfer alone", [moved()]],
    ["its use alone", [used()]],
    ["a transfer before its use", [moved(), used()]],
    ["the use of another nonce", [used(newHex(32)), moved()]],
    ["the same nonce of another wallet", [used(one.nonce, newHex(20)), moved()]],
    ["a transfer of more", [used(), moved({ value: one.value + 1n })]],
    ["a transfer of less", [used(), moved({ value: one.value - 1n })]],
    ["a transfer to somebody else", [used(), moved({ to: newHex(20) })]],
    ["a transfer of somebody else", [used(), moved({ from: newHex(20) })]],
    ["a transfer of another token", [used(), moved({ asset: newHex(20) })]],
    ["a transfer behind another one of the token", [used(), moved({ to: newHex(20) }), moved()]],
  ])("do not pay it by %s", (_, logs) => {
    assert.isFalse(pays(logs, one))
  })
})

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
const plain = (topics: ReadonlyArray<Hex | ReadonlyArray<Hex> | null>) => topics.flatMap((topic) => topic ?? [])
const { asset, from, nonce, to, value } = authorization
const args = { authorizer: from, nonce }
const used: Log = {
  address: asset,
  topics: plain(encodeEventTopics({ abi, eventName: "AuthorizationUsed", args })),
  data: "0x",
}
const canceled: Log = {
  address: asset,
  topics: plain(encodeEventTopics({ abi, eventName: "AuthorizationCanceled", args })),
  data: "0x",
}
const moved: Log = {
  address: asset,
  topics: plain(encodeEventTopics({ abi, eventName: "Transfer", args: { from, to } })),
  data: pad(numberToHex(value)),
}
const other: Log = { address: asset, topics: [word("7")], data: "0x" }

/** As a node writes it; of a stranger's logs not even the form is right. */
const answer = (strangers: number, data = "0x") => ({
  transactionHash: word("2"),
  logs: [
    ...Array.from({ length: strangers }, () => ({ address: address("f"), topics: ["no word"], data })),
    { ...canceled, address: `0x${"A".repeat(40)}` },
  ],
})

describe("the logs of a receipt", () => {
  it("are those of the token alone, in whatever letters a node writes its address", () => {
    const own = ownLogs(asset)(answer(3))
    assert.deepStrictEqual(own.answer, {
      transactionHash: word("2"),
      logs: [{ ...canceled, address: `0x${"A".repeat(40)}` }],
    })
    assert.isFalse(own.isLong)
  })

  it("are called long for their number and for their bytes, whoever logged them", () => {
    assert.isTrue(ownLogs(asset)(answer(1_000)).isLong)
    assert.isTrue(ownLogs(asset)(answer(1, `0x${"0".repeat(300_000)}`)).isLong)
    assert.isFalse(ownLogs(asset)(answer(100)).isLong, "a group of payments is not long")
  })

  it("are sifted once for all who asked together, and for each token", () => {
    const shared = answer(1)
    assert.strictEqual(ownLogs(asset)(shared).answer, ownLogs(asset)(shared).answer)
    assert.deepInclude(ownLogs(address("9"))(shared).answer, { logs: [] })
  })

  it("prove the same when only those that end authorizations are kept", () => {
    const logs = [used, canceled, moved, other]
    for (const a of logs)
      for (const b of logs)
        for (const c of logs)
          for (const d of logs) {
            const all = [a, b, c, d]
            const kept = endingLogs(all)
            assert.strictEqual(pays(kept, authorization), pays(all, authorization))
            assert.strictEqual(endIn(kept, authorization), endIn(all, authorization))
          }
    assert.deepStrictEqual(endingLogs(Array.from({ length: 9 }, () => moved)), [])
  })
})

const blockAt = (number: bigint): Evidence.Block => ({ number, hash: pad(numberToHex(number)), timestamp: 1_000n })

/** A used authorization in a block, of which the receipt is counted. */
const scene = (isLong: boolean, logs: ReadonlyArray<Log> = [canceled]) => {
  const now = { block: blockAt(12n), final: blockAt(9n), read: 0 }
  const { evidence } = Evidence.make<never>({
    heads: Effect.sync(() => ({ newest: blockAt(20n), final: now.final })),
    finalAnd: (number) => Effect.sync(() => ({ final: now.final, there: blockAt(number), again: now.final })),
    receiptOf: () =>
      Effect.sync(() => {
        now.read += 1
        return Option.some({ block: now.block, succeeded: true, logs, isLong })
      }),
    stateAt: () => Effect.succeed({ used: true, revert: Option.some(alreadyUsed) }),
    logsOf: () => Effect.sync(() => [{ transaction: word("2"), blockHash: now.block.hash }]),
  })
  const look = (one = authorization) =>
    evidence({ authorization: one, fromBlock: 0n, transaction: Option.none(), patience: Duration.zero })
  return { now, look }
}

const nothing = { _tag: "Open", unused: false, reverts: false } as const
const open = { ...nothing, ended: "authorization_canceled" } as const
const over = { _tag: "Void", reason: "authorization_canceled", transaction: word("2") } as const

describe("a long receipt", () => {
  it.effect("is read once before its block is final, and once after that, however many looks there are", () =>
    Effect.gen(function* () {
      const { look, now } = scene(true)
      for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* look(), open)
      assert.strictEqual(now.read, 1)
      now.final = blockAt(15n)
      for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* look(), over)
      assert.strictEqual(now.read, 2)
    }),
  )

  it.effect("is read once for all the authorizations that its transaction ended", () =>
    Effect.gen(function* () {
      const { look, now } = scene(true)
      const others = ["1", "2", "3"].map((digit) => ({ ...authorization, nonce: word(digit) }))
      assert.deepStrictEqual(yield* look(), open)
      for (const one of others) assert.deepStrictEqual(yield* look(one), nothing)
      assert.strictEqual(now.read, 1)
    }),
  )

  it.effect("is read anew in another block", () =>
    Effect.gen(function* () {
      const { look, now } = scene(true)
      yield* look()
      now.block = blockAt(13n)
      yield* look()
      assert.strictEqual(now.read, 2)
    }),
  )

  it.effect("makes way for others when too much is kept of them", () =>
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

describe("any other receipt", () => {
  it.effect("is read at every look: each may be answered by another node", () =>
    Effect.gen(function* () {
      const { look, now } = scene(false)
      for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* look(), open)
      assert.strictEqual(now.read, 3)
    }),
  )
})
