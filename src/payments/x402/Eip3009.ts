/** EIP-3009 as bytes: the call that moves the money, and the logs that prove it did. */
import { Option } from "effect"
import {
  decodeFunctionResult,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  hexToBigInt,
  parseAbi,
  toEventSelector,
} from "viem"
import { parseErc6492Signature } from "viem/utils"
import type { Address } from "../../../schema/Common.ts"
import { multicall3 } from "../../../schema/payments/Usdc.ts"
import { inLowerCase } from "../Hex.ts"

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

const tokenAbi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
])

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

/** Reads an EIP-6492 wrapper in small letters; undefined for plain signatures and for wrappers that do not decode. */
export const deploymentOf = (wrapped: Hex): Deployment | undefined => {
  const parsed = Option.getOrUndefined(parse(wrapped))
  return parsed?.address === undefined
    ? undefined
    : { factory: parsed.address, data: parsed.data, signature: parsed.signature }
}

/** A transfer is tried, rehearsed and sent: its bytes are made once. */
const encoded = new WeakMap<SignedAuthorization, Hex>()

const transferData = (authorization: SignedAuthorization): Hex => {
  const known = encoded.get(authorization)
  if (known !== undefined) return known
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: "transferWithAuthorization",
    args: [
      authorization.from,
      authorization.to,
      authorization.value,
      authorization.validAfter,
      authorization.validBefore,
      authorization.nonce,
      deploymentOf(authorization.signature)?.signature ?? authorization.signature,
    ],
  })
  encoded.set(authorization, data)
  return data
}

/** The call that settles; for a counterfactual wallet, deployment and transfer in one. */
export const settlementCall = (authorization: SignedAuthorization): { readonly to: Address; readonly data: Hex } => {
  const deployment = deploymentOf(authorization.signature)
  if (deployment === undefined) {
    return { to: authorization.asset, data: transferData(authorization) }
  }
  const calls = [
    { target: deployment.factory, allowFailure: true, callData: deployment.data },
    { target: authorization.asset, allowFailure: false, callData: transferData(authorization) },
  ]
  return { to: multicall3, data: encodeFunctionData({ abi: multicallAbi, functionName: "aggregate3", args: [calls] }) }
}

/** Whether it is signed as ordinary wallets sign: 65 bytes, whose check takes the same gas for everybody. */
export const isPlain = ({ signature }: SignedAuthorization) => signature.length === 132

/** The call that settles many plain transfers, each of which fails by itself. */
export const groupCall = (
  authorizations: ReadonlyArray<SignedAuthorization>,
): { readonly to: Address; readonly data: Hex } => {
  const calls = authorizations.map((one) => ({
    target: one.asset,
    allowFailure: true,
    callData: transferData(one),
  }))
  return { to: multicall3, data: encodeFunctionData({ abi: multicallAbi, functionName: "aggregate3", args: [calls] }) }
}

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
export const togetherCall = (
  asset: Address,
  reads: ReadonlyArray<Hex>,
): { readonly to: Address; readonly data: Hex } => ({
  to: multicall3,
  data: encodeFunctionData({
    abi: multicallAbi,
    functionName: "aggregate3",
    args: [reads.map((callData) => ({ target: asset, allowFailure: false, callData }))],
  }),
})

/** The words that the reads of `togetherCall` returned, in their order. */
export const readTogether = (returned: Hex): ReadonlyArray<bigint> =>
  decodeFunctionResult({ abi: multicallAbi, functionName: "aggregate3", data: returned }).map(({ returnData }) =>
    hexToBigInt(returnData),
  )

export const authorizationStateData = (from: Address, nonce: Hex) =>
  encodeFunctionData({ abi: tokenAbi, functionName: "authorizationState", args: [from, nonce] })

export interface Log {
  readonly address: Address
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

const topicOf = (eventName: "AuthorizationUsed" | "AuthorizationCanceled" | "Transfer") =>
  toEventSelector(getAbiItem({ abi: tokenAbi, name: eventName }))

const used = topicOf("AuthorizationUsed")
const canceled = topicOf("AuthorizationCanceled")
const transfer = topicOf("Transfer")

const addressTopic = (address: Address): Hex => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`

/** What a search for the logs that end an authorization asks for. */
export const endTopics = ({ from, nonce }: SignedAuthorization) => [
  [used, canceled],
  addressTopic(from),
  inLowerCase(nonce),
]

/** Exactly these topics: a word that only decodes to the same address is another one. */
const hasTopics = ({ topics }: Log, name: Hex, first: Hex, second: Hex) =>
  topics[0] === name && topics[1] === first && topics[2] === second

/** The receipt of a group holds the logs of many: plain comparisons, and only the asset's own logs. */
const ownLogs = (logs: ReadonlyArray<Log>, asset: Address) => {
  const own = asset.toLowerCase()
  return logs.filter(({ address }) => address === own || address.toLowerCase() === own)
}

/**
 * Whether these logs of one transaction pay the authorization: the asset's AuthorizationUsed for it,
 * and as the asset's next log the Transfer of the exact value (a payer may spend a nonce on something else).
 */
export const pays = (logs: ReadonlyArray<Log>, authorization: SignedAuthorization): boolean => {
  const { asset, from, nonce, to, value } = authorization
  const own = ownLogs(logs, asset)
  const [payer, word] = [addressTopic(from), inLowerCase(nonce)]
  const at = own.findIndex((log) => hasTopics(log, used, payer, word))
  const next = at < 0 ? undefined : own[at + 1]
  return (
    next !== undefined &&
    hasTopics(next, transfer, payer, addressTopic(to)) &&
    next.data.length === 66 &&
    BigInt(next.data) === value
  )
}

/** What these logs of one transaction did with the authorization, whomever it paid. */
export const endIn = (
  logs: ReadonlyArray<Log>,
  { asset, from, nonce }: SignedAuthorization,
): "used" | "canceled" | undefined => {
  const [payer, word] = [addressTopic(from), inLowerCase(nonce)]
  const end = ownLogs(logs, asset).find(
    (log) => hasTopics(log, used, payer, word) || hasTopics(log, canceled, payer, word),
  )
  return end === undefined ? undefined : end.topics[0] === used ? "used" : "canceled"
}

/** The token's own word that an authorization was used or cancelled. */
export const alreadyUsed = "invalid_exact_evm_nonce_already_used"

/** A token's revert string as the x402 reason code it stands for: the words are those of Circle's FiatToken. */
export const reasonOf = (revert: string): string => {
  const text = revert.toLowerCase()
  if (text.includes("used or canceled")) return alreadyUsed
  if (text.includes("authorization is expired")) return "invalid_exact_evm_payload_authorization_valid_before"
  if (text.includes("not yet valid")) return "invalid_exact_evm_payload_authorization_valid_after"
  if (text.includes("exceeds balance")) return "invalid_exact_evm_insufficient_balance"
  if (text.includes("signature") || text.includes("ecrecover")) return "invalid_exact_evm_signature"
  return "invalid_exact_evm_transaction_simulation_failed"
}
