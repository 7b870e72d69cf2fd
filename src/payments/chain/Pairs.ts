/** Pairs the logs of a token: each use of an authorization with the transfer that it made. Plain values, no node. */
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { inLowerCase, wordOf } from "../Hex.ts"
import { transferTopic, usedTopic } from "./Eip3009.ts"

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

/** An address as a topic. */
export const topicOf = (address: Address): Hex => `0x${wordOf(address)}`

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
    const use = before.find((one) => one.index === index - 1)
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
