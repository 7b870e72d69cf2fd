/** EIP-3009 calls and logs as bytes: the call that transfers, the logs that prove it, and the pairs among them. */
import { type Hex, hexToBigInt, numberToHex, toEventSelector, toFunctionSelector } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { Schema, SchemaTransformation } from "effect"

const isHex = (pattern: RegExp) => Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(pattern))

/** Any number of digits, including none. */
export const HexText = isHex(/^0x[0-9a-fA-F]*$/u)

/** A number of at least one digit. */
export const Quantity = isHex(/^0x[0-9a-fA-F]+$/u).pipe(
  Schema.decodeTo(Schema.BigInt, SchemaTransformation.transform({ decode: hexToBigInt, encode: numberToHex })),
)

/** 32 bytes: a hash, a nonce or a topic. */
export const Word = isHex(/^0x[0-9a-fA-F]{64}$/u)

/** 20 bytes in any case. */
export const AddressText = isHex(/^0x[0-9a-fA-F]{40}$/u)

/** The same digits in lower case, the form in which hashes, nonces and addresses are stored and compared. */
export const inLowerCase = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`

/** A number or an address as one ABI word without prefix. More than 64 digits give a longer text, which is no word. */
export const wordOf = (value: bigint | `0x${string}`) =>
  (typeof value === "bigint" ? value.toString(16) : inLowerCase(value).slice(2)).padStart(64, "0")

/** The reason of a revert, and of a refusal, by an authorization that the token calls used or cancelled. */
export const alreadyUsed = "invalid_exact_evm_nonce_already_used"

/** A payer's signed authorization; `value` in atomic USDC, times in Unix seconds. */
export const SignedAuthorization = Schema.Struct({
  asset: AddressText,
  from: AddressText,
  to: AddressText,
  value: Schema.BigIntFromString,
  validAfter: Schema.BigIntFromString,
  validBefore: Schema.BigIntFromString,
  nonce: Word,
  signature: HexText,
})
export type SignedAuthorization = typeof SignedAuthorization.Type

/** The chain id of a CAIP-2 network. It is signed, so a node of another chain rejects the transaction. */
export const chainIdOf = (network: string) => Number(network.slice("eip155:".length))

/** Computed once, since encoding a call by name would hash the name for every payment. */
const transferSelector = toFunctionSelector(
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
)
const stateSelector = toFunctionSelector("authorizationState(address,bytes32)")
const balanceSelector = toFunctionSelector("balanceOf(address)")

export const usedTopic = toEventSelector("AuthorizationUsed(address,bytes32)")
export const canceledTopic = toEventSelector("AuthorizationCanceled(address,bytes32)")
export const transferTopic = toEventSelector("Transfer(address,address,uint256)")

/** Offset of the signature in a transfer's data: seven words. */
const signatureOffset = wordOf(224n)

const transferData = ({ from, nonce, signature, to, validAfter, validBefore, value }: SignedAuthorization): Hex => {
  const bytes = inLowerCase(signature).slice(2)
  const words = [from, to, value, validAfter, validBefore, nonce].map(wordOf).join("")
  const length = wordOf(BigInt(bytes.length / 2))
  return `${transferSelector}${words}${signatureOffset}${length}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0")}`
}

interface Call {
  readonly to: Address
  readonly data: Hex
}

export const settlementCall = (authorization: SignedAuthorization): Call => ({
  to: authorization.asset,
  data: transferData(authorization),
})

/** The authorization that a transfer's data uses: its first and its sixth word. */
export const authorizationIn = ({ data, to }: Call) => ({
  asset: to,
  from: addressIn(`0x${data.slice(10, 74)}`),
  nonce: inLowerCase(`0x${data.slice(330, 394)}`),
})

export const balanceData = (owner: Address): Hex => `${balanceSelector}${wordOf(owner)}`

export const authorizationStateData = (from: Address, nonce: Hex): Hex =>
  `${stateSelector}${wordOf(from)}${wordOf(nonce)}`

export interface Log {
  readonly address: Address
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

type Topics = ReadonlyArray<Hex>

/** An address or a nonce as a topic. */
export const topicOf = (value: Hex): Hex => `0x${wordOf(value)}`

const endTopicsBy = (event: Hex, { from, nonce }: Pick<SignedAuthorization, "from" | "nonce">): Topics => [
  event,
  topicOf(from),
  topicOf(nonce),
]

/** Topics of a log search for the use or cancellation of an authorization. */
export const endTopics = (authorization: SignedAuthorization) => [
  [usedTopic, canceledTopic],
  ...endTopicsBy(usedTopic, authorization).slice(1),
]

const ofToken = (logs: ReadonlyArray<Log>, asset: Address) => {
  const address = inLowerCase(asset)
  // Most nodes answer in lower case, and a group has many logs.
  return logs.filter((log) => log.address === address || inLowerCase(log.address) === address)
}

/** Compares topics exactly: another word that decodes to the same address does not match. */
const hasTopics = (log: Log, topics: Topics) =>
  log.topics.length >= topics.length && topics.every((topic, index) => topic === log.topics[index])

/**
 * The amount that the authorization moved to its recipient in these logs of one transaction: the asset's
 * `AuthorizationUsed`, directly followed by its `Transfer`. A payer may spend a nonce on another amount, or on another recipient.
 */
export const amountPaid = (
  logs: ReadonlyArray<Log>,
  authorization: Pick<SignedAuthorization, "asset" | "from" | "to" | "nonce">,
): bigint | undefined => {
  const { asset, from, to } = authorization
  const own = ofToken(logs, asset)
  const topics = endTopicsBy(usedTopic, authorization)
  const used = own.findIndex((log) => hasTopics(log, topics))
  const next = used < 0 ? undefined : own[used + 1]
  const isMove = next !== undefined && hasTopics(next, [transferTopic, topicOf(from), topicOf(to)])
  return isMove && next.data.length === 66 ? BigInt(next.data) : undefined
}

export const pays = (
  logs: ReadonlyArray<Log>,
  authorization: Pick<SignedAuthorization, "asset" | "from" | "to" | "value" | "nonce">,
): boolean => amountPaid(logs, authorization) === authorization.value

/** How these logs of one transaction ended the authorization, independent of the recipient. */
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

/** The reason of a wallet that holds less than the amount. */
export const tooPoor = "invalid_exact_evm_insufficient_balance"

/** The reason of a revert that names no fault of the payment. */
export const unexplained = "invalid_exact_evm_transaction_simulation_failed"

/** Maps a token's revert string, in the words of Circle's FiatToken, to the x402 reason code. */
export const reasonOf = (revert: string): string => {
  const text = revert.toLowerCase()
  if (text.includes("used or canceled")) return alreadyUsed
  if (text.includes("authorization is expired")) return "invalid_exact_evm_payload_authorization_valid_before"
  if (text.includes("not yet valid")) return "invalid_exact_evm_payload_authorization_valid_after"
  if (text.includes("exceeds balance")) return tooPoor
  if (text.includes("signature") || text.includes("ecrecover")) return "invalid_exact_evm_signature"
  return unexplained
}

/** A log of the token. `index` counts the logs of its block. */
export interface TokenLog {
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
  readonly transaction: Hex
  readonly block: bigint
  readonly blockHash: Hex
  readonly index: number
}

/** An EIP-3009 transfer to us: the use of an authorization, directly followed by its `Transfer`. */
export interface Transfer {
  readonly payer: Address
  readonly nonce: Hex
  readonly recipient: Address
  readonly amount: bigint
  readonly transaction: Hex
  readonly block: bigint
  readonly blockHash: Hex
  /** Place of the `Transfer` among the logs of its block. */
  readonly index: number
}

export const addressIn = (topic: Hex | undefined): Address => inLowerCase(`0x${topic?.slice(26) ?? ""}`)

/** Whether the log moves more than nothing to one of these recipients. A transfer of zero needs no signature. */
export const isPayment = ({ data, topics }: TokenLog, recipients: ReadonlySet<string>) =>
  topics.length === 3 &&
  topics[0] === transferTopic &&
  recipients.has(addressIn(topics[2])) &&
  data.length === 66 &&
  BigInt(data) > 0n

const isUseBefore = (use: TokenLog, transfer: TokenLog) =>
  use.topics[0] === usedTopic &&
  use.transaction === transfer.transaction &&
  use.index < transfer.index &&
  addressIn(use.topics[1]) === addressIn(transfer.topics[1])

/**
 * The pairs among filtered logs. The token logs both in one call, so their indexes are adjacent. `unclear` names
 * transactions where a use precedes a transfer of its payer with a gap: only all their logs show what is between.
 */
export const pairsOf = (logs: ReadonlyArray<TokenLog>, recipients: ReadonlySet<string>) => {
  const pairs: Array<Transfer> = []
  const unclear = new Set<Hex>()
  const uses = Map.groupBy(
    logs.filter(({ topics }) => topics[0] === usedTopic),
    ({ transaction }) => transaction,
  )
  for (const transfer of logs.filter((log) => isPayment(log, recipients))) {
    const { block, blockHash, data, index, topics, transaction } = transfer
    const before = (uses.get(transaction) ?? []).filter((use) => isUseBefore(use, transfer))
    const use = before.find((earlier) => earlier.index === index - 1)
    const nonce = use?.topics[2]
    if (nonce === undefined) {
      if (before.length > 0) unclear.add(transaction)
      continue
    }
    const [payer, recipient] = [addressIn(topics[1]), addressIn(topics[2])]
    pairs.push({
      payer,
      nonce: inLowerCase(nonce),
      recipient,
      amount: BigInt(data),
      transaction,
      block,
      blockHash,
      index,
    })
  }
  return { pairs, unclear }
}

/** The pairs among all logs of the token in one transaction, whose order alone decides. Indexes are those of the block. */
export const pairsInReceipt = (logs: ReadonlyArray<TokenLog>, recipients: ReadonlySet<string>) => {
  const numbered = logs.map((log, index) => ({ ...log, index }))
  return pairsOf(numbered, recipients).pairs.map((pair) => ({ ...pair, index: logs[pair.index]?.index ?? pair.index }))
}
