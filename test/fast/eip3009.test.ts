/** The bytes that we write of calls and logs are viem's, and what the logs of a transaction prove of an authorization. */
import { assert, describe, it } from "@effect/vitest"
import { encodeEventTopics, encodeFunctionData, type Hex, parseAbi } from "viem"
import {
  authorizationIn,
  authorizationStateData,
  balanceData,
  endTopics,
  type Log,
  pays,
  settlementCall,
  type SignedAuthorization,
} from "../../src/payments/x402/chain/Eip3009.ts"
import { events, logsOf, newHex } from "../lab/TransferLogs.ts"

const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
])

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

it("an authorization as bytes equals viem's calls of transfer, state and balance, and viem's topics, for signatures of every length", () => {
  for (const one of some) {
    const { asset, from, nonce, signature, to, validAfter, validBefore, value } = one
    const transfer = [from, to, value, validAfter, validBefore, nonce, signature] as const
    const data = encodeFunctionData({ abi, functionName: "transferWithAuthorization", args: transfer })
    assert.deepStrictEqual(settlementCall(one), { to: asset, data })
    assert.deepStrictEqual(authorizationIn({ to: asset, data }), { asset, from: one.from, nonce: one.nonce })
    const args = { authorizer: from, nonce }
    assert.strictEqual(
      authorizationStateData(from, nonce),
      encodeFunctionData({ abi, functionName: "authorizationState", args: [from, nonce] }),
    )
    assert.strictEqual(balanceData(from), encodeFunctionData({ abi, functionName: "balanceOf", args: [from] }))
    const [used, ...indexed] = encodeEventTopics({ abi: events, eventName: "AuthorizationUsed", args })
    const [canceled] = encodeEventTopics({ abi: events, eventName: "AuthorizationCanceled", args })
    assert.deepStrictEqual(endTopics(one), [[used, canceled], ...indexed])
  }
})

describe("the logs of a transaction", () => {
  const one = authorizationOf(65)
  const used = (nonce: Hex = one.nonce, from: Hex = one.from) => logsOf({ ...one, nonce, from }).used
  const moved = (change: Partial<SignedAuthorization> = {}) => logsOf({ ...one, ...change }).moved
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
