/** EIP-3009 as bytes: the call that moves the money, and the logs that prove it did. */
import { Option } from "effect"
import { decodeAbiParameters, encodeFunctionData, type Hex, isAddressEqual, parseAbi } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { multicall3 } from "../../../schema/payments/Usdc.ts"

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

const tokenAbi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
])

const multicallAbi = parseAbi([
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])",
])

/** topic0 of AuthorizationUsed, AuthorizationCanceled and Transfer (x402.md §2.1). */
export const authorizationUsed: Hex = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
export const authorizationCanceled: Hex = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81"
const transfer: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const erc6492Magic = "6492649264926492649264926492649264926492649264926492649264926492"

/** The wallet deployment wrapped around a signature of a wallet that does not exist yet (EIP-6492). */
export interface Deployment {
  readonly factory: Address
  readonly data: Hex
  readonly signature: Hex
}

const unwrap = Option.liftThrowable((signature: Hex): Deployment => {
  const [factory, data, inner] = decodeAbiParameters(
    [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
    `0x${signature.slice(2, -64)}`,
  )
  return { factory, data, signature: inner }
})

/** Reads an EIP-6492 wrapper; undefined for plain signatures and for wrappers that do not decode. */
export const deploymentOf = (signature: Hex): Deployment | undefined =>
  signature.toLowerCase().endsWith(erc6492Magic) ? Option.getOrUndefined(unwrap(signature)) : undefined

const transferData = (authorization: SignedAuthorization, signature: Hex) =>
  encodeFunctionData({
    abi: tokenAbi,
    functionName: "transferWithAuthorization",
    args: [
      authorization.from,
      authorization.to,
      authorization.value,
      authorization.validAfter,
      authorization.validBefore,
      authorization.nonce,
      signature,
    ],
  })

/** The call that settles; for a counterfactual wallet, deployment and transfer in one. */
export const settlementCall = (authorization: SignedAuthorization): { readonly to: Address; readonly data: Hex } => {
  const deployment = deploymentOf(authorization.signature)
  if (deployment === undefined) {
    return { to: authorization.asset, data: transferData(authorization, authorization.signature) }
  }
  const calls = [
    { target: deployment.factory, allowFailure: true, callData: deployment.data },
    { target: authorization.asset, allowFailure: false, callData: transferData(authorization, deployment.signature) },
  ]
  return { to: multicall3, data: encodeFunctionData({ abi: multicallAbi, functionName: "aggregate3", args: [calls] }) }
}

export const authorizationStateData = (from: Address, nonce: Hex) =>
  encodeFunctionData({ abi: tokenAbi, functionName: "authorizationState", args: [from, nonce] })

/** An address as an indexed log topic. */
export const addressTopic = (address: Address): Hex => `0x${"0".repeat(24)}${address.slice(2).toLowerCase()}`

export interface Log {
  readonly address: Address
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

/**
 * Whether these logs of one transaction pay the authorization: the asset's AuthorizationUsed for it,
 * and as the asset's next log the Transfer of the exact value (a payer may spend a nonce on something else).
 */
export const pays = (logs: ReadonlyArray<Log>, authorization: SignedAuthorization): boolean => {
  const own = logs.filter((log) => isAddressEqual(log.address, authorization.asset))
  const used = own.findIndex(
    (log) =>
      log.topics[0] === authorizationUsed &&
      log.topics[1] === addressTopic(authorization.from) &&
      log.topics[2] === authorization.nonce.toLowerCase(),
  )
  const next = used < 0 ? undefined : own[used + 1]
  return (
    next !== undefined &&
    next.topics[0] === transfer &&
    next.topics[1] === addressTopic(authorization.from) &&
    next.topics[2] === addressTopic(authorization.to) &&
    next.data.length === 66 &&
    BigInt(next.data) === authorization.value
  )
}

/** What these logs of one transaction did with the authorization, whomever it paid. */
export const endIn = (
  logs: ReadonlyArray<Log>,
  authorization: SignedAuthorization,
): "used" | "canceled" | undefined => {
  const end = logs.find(
    ({ address, topics }) =>
      isAddressEqual(address, authorization.asset) &&
      (topics[0] === authorizationUsed || topics[0] === authorizationCanceled) &&
      topics[1] === addressTopic(authorization.from) &&
      topics[2] === authorization.nonce.toLowerCase(),
  )
  return end === undefined ? undefined : end.topics[0] === authorizationUsed ? "used" : "canceled"
}

/** The token's own word that an authorization was used or cancelled. */
export const alreadyUsed = "invalid_exact_evm_nonce_already_used"

/** A token's revert string as the x402 reason code it stands for (local-chain.md §3). */
export const reasonOf = (revert: string): string => {
  const text = revert.toLowerCase()
  if (text.includes("used or canceled")) return alreadyUsed
  if (text.includes("authorization is expired")) return "invalid_exact_evm_payload_authorization_valid_before"
  if (text.includes("not yet valid")) return "invalid_exact_evm_payload_authorization_valid_after"
  if (text.includes("exceeds balance")) return "invalid_exact_evm_insufficient_balance"
  if (text.includes("signature") || text.includes("ecrecover")) return "invalid_exact_evm_signature"
  return "invalid_exact_evm_transaction_simulation_failed"
}
