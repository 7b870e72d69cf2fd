/** The pure pairing of logs: which use of an authorization made which transfer; and which refusals make a range narrower. */
import { assert, describe, it } from "@effect/vitest"
import { pairsInReceipt, pairsOf, type TokenLog } from "../../src/payments/x402/chain/Eip3009.ts"
import type { Hex } from "viem"
import { ChainUnavailable } from "../../src/payments/x402/chain/Rpc.ts"
import { isTooManyBlocks } from "../../src/payments/x402/chain/Questions.ts"
import { move, nonceOf, us, use, wallet } from "../lab/ScriptedChain.ts"
import { word } from "../lab/TransferLogs.ts"

const [payer, other, old] = [wallet(1), wallet(2), wallet(3)]
const ours = new Set<string>([us, old])

/** Logs by their index. */
type Placed = Readonly<Record<number, Pick<TokenLog, "topics" | "data"> & { readonly transaction?: Hex }>>

const logs = (placed: Placed): ReadonlyArray<TokenLog> =>
  Object.entries(placed).map(([index, log]) => ({
    transaction: word("1"),
    ...log,
    index: Number(index),
    block: 7n,
    blockHash: word("7"),
  }))

const used = use(payer, nonceOf(1))
const paid = move(payer, us, 5n)

const cases: Readonly<Record<string, readonly [Placed, pairs: ReadonlyArray<string>, unclear?: number]>> = {
  "a use directly before its transfer": [{ 4: used, 5: paid }, ["1:5"]],
  "two payments of one wallet in one transaction": [
    { 4: used, 5: paid, 6: use(payer, nonceOf(2)), 7: move(payer, us, 6n) },
    ["1:5", "2:6"],
  ],
  "payments of two wallets": [{ 4: used, 5: paid, 6: use(other, nonceOf(9)), 7: move(other, us, 1n) }, ["1:5", "9:1"]],
  "a payment to an earlier wallet of ours": [{ 4: used, 5: move(payer, old, 5n) }, ["1:5"]],
  "a plain transfer": [{ 5: paid }, []],
  "a transfer before the use": [{ 4: paid, 5: used }, []],
  "a use of another wallet before the transfer": [{ 4: use(other, nonceOf(1)), 5: paid }, []],
  "a use in another transaction": [{ 4: { ...used, transaction: word("2") }, 5: paid }, []],
  "a transfer of nothing": [{ 4: used, 5: move(payer, us, 0n) }, []],
  "a transfer to a stranger": [{ 4: used, 5: move(payer, other, 5n) }, []],
  // The use paid a stranger in the log that the filter hides, and a plain transfer to us followed.
  "a use with a gap before a transfer": [{ 4: used, 6: paid }, [], 1],
  "a plain transfer after a payment": [{ 4: used, 5: paid, 6: paid }, ["1:5"], 1],
  "a log that decodes to more than a transfer": [{ 4: used, 5: { ...paid, topics: [...paid.topics, nonceOf(1)] } }, []],
}

const told = (pairs: ReturnType<typeof pairsOf>["pairs"]) =>
  pairs.map(({ amount, nonce }) => `${BigInt(nonce)}:${amount}`)

describe("the pairs among filtered logs", () => {
  it.each(Object.entries(cases))("are right for %s", (_, [placed, pairs, unclear = 0]) => {
    const found = pairsOf(logs(placed), ours)
    assert.deepStrictEqual([told(found.pairs), found.unclear.size], [[...pairs], unclear])
  })

  it("name payer, recipient, block and place", () => {
    const [pair] = pairsOf(logs({ 4: used, 5: paid }), ours).pairs
    assert.deepStrictEqual(pair, {
      payer,
      nonce: nonceOf(1),
      recipient: us,
      amount: 5n,
      transaction: word("1"),
      block: 7n,
      blockHash: word("7"),
      index: 5,
    })
  })
})

it("the pairs among all logs of a transaction follow their order, whatever their indexes", () => {
  const apart = pairsInReceipt(logs({ 4: used, 9: paid }), ours)
  assert.deepStrictEqual([told(apart), apart[0]?.index], [["1:5"], 9])
  const spent = logs({ 4: used, 5: move(payer, other, 5n), 6: paid })
  assert.deepStrictEqual(pairsInReceipt(spent, ours), [])
})

describe("a refused question for logs", () => {
  it.each([
    [true, -32_005, "query returned more than 10000 results"],
    [true, -32_600, "You can make eth_getLogs requests with up to a 10 block range."],
    [true, -32_602, "Log response size exceeded."],
    [true, -32_614, "eth_getLogs is limited to a 10,000 range"],
    [true, -32_000, "exceed maximum block range: 50000"],
    [true, 35, "ranges over 10000 blocks are not supported on free tier"],
    [false, 429, "Too Many Requests, reason: call rate limit exhausted, retry in 10s"],
    [false, -32_005, "daily request count exceeded, request rate limited"],
    [false, -32_007, "50/second request limit reached - reduce calls per second"],
    [false, -32_000, "header not found"],
    [false, -32_000, "block range extends beyond current head block"],
    [false, -32_000, "block range cannot be found"],
    [false, -32_000, "logs of pruned blocks are not available"],
    [false, -32_000, "failed to get logs"],
    [false, -32_603, "Internal error"],
  ] as const)("narrows the range: %s, code %s, %s", (isTooWide, code, detail) => {
    const refusal = new ChainUnavailable({ method: "eth_getLogs", reason: "refused the question", code, detail })
    assert.strictEqual(isTooManyBlocks(refusal), isTooWide)
  })

  it.each([
    [true, { reason: "AnswerTooLarge" }],
    [true, { reason: "refused the request", status: 413 }],
    [false, { reason: "refused the request", status: 429 }],
    [false, { reason: "TimeoutError" }],
  ] as const)("narrows the range: %s, %j", (isTooWide, facts) => {
    assert.strictEqual(isTooManyBlocks(new ChainUnavailable({ method: "eth_getLogs", ...facts })), isTooWide)
  })
})
