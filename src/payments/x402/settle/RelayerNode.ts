/** The node as the relayer uses it: its transactions, their rehearsals and fees. */
import { Effect, Schema } from "effect"
import { type Hex, numberToHex } from "viem"
import { AddressText, HexText, Quantity, reasonOf, Word } from "../chain/Eip3009.ts"
import type { JsonRpc } from "../chain/JsonRpc.ts"
import {
  call,
  type ChainUnavailable,
  getBalance,
  getCode,
  getTransactionCount,
  isRevert,
  question,
  type Question,
} from "../chain/Rpc.ts"

export interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The fee for the next blocks, and the base fee of the newest one. */
export interface Market {
  readonly fee: Fee
  readonly base: bigint
}

/** Gas limit of a transfer from a wallet without code, which takes 75,000 to 100,000. */
export const plainGas = 150_000n

/** Maximum gas of a transfer from a wallet with code, which checks its signature itself. */
export const settlementGas = 750_000n

export const emptyGas = 21_000n

const tip = 1_000_000n

/** Three times the base fee of the newest block, which may rise by an eighth per block. */
export const currentFees = (node: RelayerNode) =>
  Effect.map(node.newest, ({ baseFeePerGas: base = 0n }): Market => ({
    base,
    fee: { maxPriorityFeePerGas: tip, maxFeePerGas: base * 3n + tip },
  }))

/** The most that a replacement offers. */
export const highestFee = (now: Fee) => now.maxFeePerGas * 10n

/**
 * A quarter above the offered fee and at least the current one, all as tip. Nodes replace for a tenth more. Undefined
 * above ten times the current fee.
 */
export const raisedFee = (now: Fee, offered: bigint): Fee | undefined => {
  const raised = (offered * 5n) / 4n + 1n
  if (raised > highestFee(now)) return undefined
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}

/** A call, rehearsed with the gas limit and the fee of its transaction: a contract may behave by either. */
export interface Rehearsal {
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
  readonly fee: Fee
}

export type At = "pending" | "latest"

/** The refusal of a transfer whose contract takes more gas for its signature check than we pay for. */
export const gasTooHigh = "gas_too_high"

/** The reason why we cannot send a transfer, if the node gives one. */
export const refusalOf = (failure: ChainUnavailable): string | undefined => {
  const { detail = "" } = failure
  if (detail === gasTooHigh || /gas required exceeds|out of gas/iu.test(detail)) return gasTooHigh
  return isRevert(failure) ? reasonOf(detail) : undefined
}

const isKnownAlready = ({ detail = "" }: ChainUnavailable) =>
  /already known|known transaction|already imported/iu.test(detail)

const getTransaction = question(
  "eth_getTransactionByHash",
  Schema.NullOr(
    Schema.Struct({ hash: Word, from: AddressText, blockNumber: Schema.optionalKey(Schema.NullOr(Quantity)) }),
  ),
)
const getReceipt = question(
  "eth_getTransactionReceipt",
  Schema.NullOr(
    Schema.Struct({
      status: HexText,
      blockNumber: Quantity,
      blockHash: Word,
      gasUsed: Schema.optionalKey(Quantity),
      effectiveGasPrice: Schema.optionalKey(Quantity),
    }),
  ),
)
const getBlock = question(
  "eth_getBlockByNumber",
  Schema.Struct({ timestamp: Quantity, baseFeePerGas: Schema.optionalKey(Quantity) }),
)
const estimate = question("eth_estimateGas", Quantity)
const sendRaw = question("eth_sendRawTransaction", Schema.Unknown)

const priced = ({ maxFeePerGas, maxPriorityFeePerGas }: Fee) => ({
  maxFeePerGas: numberToHex(maxFeePerGas),
  maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
})

export const make = ({ ask, once }: Pick<JsonRpc, "ask" | "once">) => {
  /** Falls back to the newest block for nodes without a pending state. */
  const orOnLatest = <A>(block: At, at: (block: At) => Question<A>) =>
    Effect.catchIf(
      ask(at(block)),
      (failure) => block === "pending" && failure.code !== undefined && !isRevert(failure),
      () => ask(at("latest")),
    )

  return {
    /** Sends once. A refusal proves nothing: the node may have accepted the transaction all the same. */
    send: (signed: Hex) => Effect.catchIf(Effect.asVoid(once(sendRaw(signed))), isKnownAlready, () => Effect.void),
    transaction: (hash: Hex) => ask(getTransaction(hash)),
    receipt: (hash: Hex) => ask(getReceipt(hash)),
    newest: ask(getBlock("latest", false)),
    timeOf: (block: bigint) => Effect.map(ask(getBlock(numberToHex(block), false)), ({ timestamp }) => timestamp),
    /** The number of transactions in blocks, or with those that wait (`pending`). */
    count: (address: Hex, block: At) => Effect.map(ask(getTransactionCount(address, block)), Number),
    hasCode: (address: Hex) => Effect.map(ask(getCode(address, "latest")), (code) => code !== "0x"),
    balance: (address: Hex) => ask(getBalance(address, "latest")),
    rehearse: (from: Hex, { data, fee, gas, to }: Rehearsal, block: At) =>
      orOnLatest(block, (at) => call({ from, to, data, gas: numberToHex(gas), ...priced(fee) }, at)),
    estimateGas: (from: Hex, { data, to }: Pick<Rehearsal, "to" | "data">, block: At) =>
      orOnLatest(block, (at) => estimate({ from, to, data }, at)),
  }
}

export type RelayerNode = ReturnType<typeof make>
