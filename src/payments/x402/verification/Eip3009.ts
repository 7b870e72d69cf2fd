/** EIP-3009 as bytes: the call that moves the money, and the logs that prove it did. */
import { Option } from "effect"
import {
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from "viem"
import { parseErc6492Signature } from "viem/utils"
import type { Address } from "../../../../schema/Common.ts"
import { multicall3 } from "../../../../schema/payments/Usdc.ts"
import { inLowerCase, wordOf } from "../../Hex.ts"
import { alreadyUsed } from "../../protocol/Decision.ts"

export { alreadyUsed }

/** A payer's signed authorization; `value` in atomic USDC, times in Unix seconds. */
export interface SignedAuthorization {
  readonly asset: Address
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
  readonly signature: Hex
}

/** The number of a CAIP-2 network, as it is signed: a node of another chain will not take the transaction. */
export const chainIdOf = (network: string) => Number(network.slice("eip155:".length))

/** What a call of the token begins with; encoding one anew for every payment would hash its name each time. */
const transferSelector = toFunctionSelector(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
)
const stateSelector = toFunctionSelector("authorizationState(address,bytes32)")
const balanceSelector = toFunctionSelector("balanceOf(address)")

const usedTopic = toEventSelector("AuthorizationUsed(address,bytes32)")
const canceledTopic = toEventSelector("AuthorizationCanceled(address,bytes32)")
const transferTopic = toEventSelector("Transfer(address,address,uint256)")

const multicallAbi = parseAbi([
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])",
])

/** The wallet deployment wrapped around a signature of a wallet that does not exist yet (EIP-6492). */
export interface Deployment {
  readonly factory: Address
  readonly data: Hex
  readonly signature: Hex
}

const parse = Option.liftThrowable(parseErc6492Signature)

/** Characters of a signature as ordinary wallets sign: 65 bytes behind `0x`. */
const plainLength = 132

/** Reads an EIP-6492 wrapper in small letters; undefined for plain signatures and for wrappers that do not decode. */
export const deploymentOf = (wrapped: Hex): Deployment | undefined => {
  // A plain one is shorter than any wrapper, and is asked about several times for each payment.
  const parsed = wrapped.length === plainLength ? undefined : Option.getOrUndefined(parse(wrapped))
  return parsed?.address === undefined
    ? undefined
    : { factory: parsed.address, data: parsed.data, signature: parsed.signature }
}

/** Where the signature of a transfer begins: behind seven words. */
const signatureOffset = wordOf(224n)

const transferData = (
  { from, nonce, to, validAfter, validBefore, value }: SignedAuthorization,
  signature: Hex,
): Hex => {
  const bytes = inLowerCase(signature).slice(2)
  const words = [from, to, value, validAfter, validBefore, nonce].map(wordOf).join("")
  const length = wordOf(BigInt(bytes.length / 2))
  return `${transferSelector}${words}${signatureOffset}${length}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0")}`
}

interface Call {
  readonly to: Address
  readonly data: Hex
}

/** Calls as one; those that may fail undo none of the others. */
const together = (
  calls: ReadonlyArray<{ readonly target: Address; readonly allowFailure: boolean; readonly callData: Hex }>,
): Call => ({
  to: multicall3,
  data: encodeFunctionData({ abi: multicallAbi, functionName: "aggregate3", args: [calls] }),
})

/** The call that settles; for a counterfactual wallet, deployment and transfer in one. */
export const settlementCall = (authorization: SignedAuthorization): Call => {
  const { asset, signature } = authorization
  const deployment = deploymentOf(signature)
  if (deployment === undefined) return { to: asset, data: transferData(authorization, signature) }
  return together([
    { target: deployment.factory, allowFailure: true, callData: deployment.data },
    { target: asset, allowFailure: false, callData: transferData(authorization, deployment.signature) },
  ])
}

/** Whether it is signed as ordinary wallets sign: 65 bytes, whose check takes the same gas for everybody. */
export const isPlain = ({ signature }: SignedAuthorization) => signature.length === plainLength

/** The call that settles many plain transfers, each of which fails by itself. */
export const groupCall = (authorizations: ReadonlyArray<SignedAuthorization>): Call =>
  together(
    authorizations.map((one) => ({
      target: one.asset,
      allowFailure: true,
      callData: transferData(one, one.signature),
    })),
  )

const readResults = Option.liftThrowable((data: Hex) =>
  decodeFunctionResult({ abi: multicallAbi, functionName: "aggregate3", data }),
)

/** Which transfers of a group succeed, in their order, by what its call returned; none where that is no such answer. */
export const successesIn = (returned: Hex): ReadonlyArray<boolean> =>
  Option.match(readResults(returned), {
    onNone: () => [],
    onSome: (results) => results.map(({ success }) => success),
  })

/** Several reads as one call, so that one node answers them at one moment; `readTogether` reads the answer. */
export const togetherCall = (asset: Address, reads: ReadonlyArray<Hex>): Call =>
  together(reads.map((callData) => ({ target: asset, allowFailure: false, callData })))

/** The words that the reads of `togetherCall` returned, in their order. */
export const readTogether = (returned: Hex): ReadonlyArray<bigint> =>
  decodeFunctionResult({ abi: multicallAbi, functionName: "aggregate3", data: returned }).map(({ returnData }) =>
    hexToBigInt(returnData),
  )

/** The call that reads how much of the token somebody holds. */
export const balanceData = (owner: Address): Hex => `${balanceSelector}${wordOf(owner)}`

export const authorizationStateData = (from: Address, nonce: Hex): Hex =>
  `${stateSelector}${wordOf(from)}${wordOf(nonce)}`

export interface Log {
  readonly address: Address
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

type Topics = ReadonlyArray<Hex>

const wordTopic = (value: Hex): Hex => `0x${wordOf(value)}`

const endTopicsBy = (event: Hex, { from, nonce }: SignedAuthorization): Topics => [
  event,
  wordTopic(from),
  wordTopic(nonce),
]

/** What a search for the logs that end an authorization, by using or by cancelling it, asks for. */
export const endTopics = (authorization: SignedAuthorization) => [
  [usedTopic, canceledTopic],
  ...endTopicsBy(usedTopic, authorization).slice(1),
]

const ofToken = (logs: ReadonlyArray<Log>, asset: Address) => {
  const address = inLowerCase(asset)
  // Nodes write small letters, and a group has many logs.
  return logs.filter((log) => log.address === address || inLowerCase(log.address) === address)
}

/** Exactly these topics: a word that only decodes to the same address is another one. */
const hasTopics = (log: Log, topics: Topics) =>
  log.topics.length >= topics.length && topics.every((topic, index) => topic === log.topics[index])

/**
 * Whether these logs of one transaction pay the authorization: the asset's AuthorizationUsed for it,
 * and as the asset's next log the Transfer of the exact value (a payer may spend a nonce on something else).
 */
export const pays = (logs: ReadonlyArray<Log>, authorization: SignedAuthorization): boolean => {
  const { asset, from, to, value } = authorization
  const own = ofToken(logs, asset)
  const topics = endTopicsBy(usedTopic, authorization)
  const used = own.findIndex((log) => hasTopics(log, topics))
  const next = used < 0 ? undefined : own[used + 1]
  return (
    next !== undefined &&
    hasTopics(next, [transferTopic, wordTopic(from), wordTopic(to)]) &&
    next.data.length === 66 &&
    BigInt(next.data) === value
  )
}

/** What these logs of one transaction did with the authorization, whomever it paid. */
export const endIn = (
  logs: ReadonlyArray<Log>,
  authorization: SignedAuthorization,
): "used" | "canceled" | undefined => {
  const used = endTopicsBy(usedTopic, authorization)
  const canceled = endTopicsBy(canceledTopic, authorization)
  const own = ofToken(logs, authorization.asset)
  const end = own.find((log) => hasTopics(log, used) || hasTopics(log, canceled))
  return end === undefined ? undefined : hasTopics(end, used) ? "used" : "canceled"
}

const isUse = ({ topics }: Log) => topics[0] === usedTopic

/** Of one token's logs those that `pays` and `endIn` may look at: what ends an authorization, and what follows a use. */
export const endingLogs = (logs: ReadonlyArray<Log>): ReadonlyArray<Log> =>
  logs.filter((log, index) => {
    const before = logs[index - 1]
    return isUse(log) || log.topics[0] === canceledTopic || (before !== undefined && isUse(before))
  })

/** The same that its wallet holds less than the amount. */
export const tooPoor = "invalid_exact_evm_insufficient_balance"

/** A revert that names no fault of the payment. */
export const unexplained = "invalid_exact_evm_transaction_simulation_failed"

/** A token's revert string as the x402 reason code it stands for: the words are those of Circle's FiatToken. */
export const reasonOf = (revert: string): string => {
  const text = revert.toLowerCase()
  if (text.includes("used or canceled")) return alreadyUsed
  if (text.includes("authorization is expired")) return "invalid_exact_evm_payload_authorization_valid_before"
  if (text.includes("not yet valid")) return "invalid_exact_evm_payload_authorization_valid_after"
  if (text.includes("exceeds balance")) return tooPoor
  if (text.includes("signature") || text.includes("ecrecover")) return "invalid_exact_evm_signature"
  return unexplained
}
