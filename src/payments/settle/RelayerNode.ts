/** The node as the relayer uses it: its transactions, their rehearsals and fees. */
import { Effect, Schema } from "effect"
import { type Hex, hexToBigInt, numberToHex } from "viem"
import { AddressText, HexText, Quantity, Word } from "../Hex.ts"
import type { JsonRpc } from "../chain/JsonRpc.ts"
import {
  call,
  type ChainUnavailable,
  getBalance,
  getCode,
  getTransactionCount,
  isRevert,
  question,
} from "../chain/Rpc.ts"
import { reasonOf } from "../chain/Eip3009.ts"
import type { Fee } from "./Fees.ts"

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

const Transaction = Schema.NullOr(
  Schema.Struct({ hash: Word, from: AddressText, blockNumber: Schema.optionalKey(Schema.NullOr(Quantity)) }),
)
const Mined = Schema.NullOr(Schema.Struct({ status: HexText, blockNumber: Quantity, blockHash: Word }))
const Block = Schema.Struct({ timestamp: Quantity, baseFeePerGas: Schema.optionalKey(Quantity) })

const getTransaction = question("eth_getTransactionByHash", Transaction)
const getReceipt = question("eth_getTransactionReceipt", Mined)
const getBlock = question("eth_getBlockByNumber", Block)
const getEstimate = question("eth_estimateGas", Quantity)

const priced = ({ maxFeePerGas, maxPriorityFeePerGas }: Fee) => ({
  maxFeePerGas: numberToHex(maxFeePerGas),
  maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
})

export const make = ({ ask, once }: Pick<JsonRpc, "ask" | "once">) => {
  /** Sends once. A refusal proves nothing: the node may have accepted the transaction all the same. */
  const send = (signed: Hex) =>
    once("eth_sendRawTransaction", [signed]).pipe(
      Effect.asVoid,
      Effect.catchIf(isKnownAlready, () => Effect.void),
    )

  /** Falls back to the newest block for nodes without a pending state. */
  const orOnLatest = <A>(block: At, at: (block: At) => Effect.Effect<A, ChainUnavailable>) =>
    Effect.catchIf(
      at(block),
      (failure) => block === "pending" && failure.code !== undefined && !isRevert(failure),
      () => at("latest"),
    )

  return {
    send,
    transaction: (hash: Hex) => getTransaction(ask, hash),
    receipt: (hash: Hex) => getReceipt(ask, hash),
    newest: getBlock(ask, "latest", false),
    timeOf: (block: Hex) => Effect.map(getBlock(ask, block, false), ({ timestamp }) => hexToBigInt(timestamp)),
    /** The number of transactions in blocks, or with those that wait (`pending`). */
    count: (address: Hex, block: At) => Effect.map(getTransactionCount(ask, address, block), Number),
    hasCode: (address: Hex) => Effect.map(getCode(ask, address, "latest"), (code) => code !== "0x"),
    balance: (address: Hex) => Effect.map(getBalance(ask, address, "latest"), hexToBigInt),
    /** Reverts if the broadcast would revert now. */
    rehearse: (from: Hex, { data, fee, gas, to }: Rehearsal, block: At) =>
      orOnLatest(block, (at) => call(ask, { from, to, data, gas: numberToHex(gas), ...priced(fee) }, at)),
    estimateGas: (from: Hex, { data, to }: Pick<Rehearsal, "to" | "data">, block: At) =>
      Effect.map(
        orOnLatest(block, (at) => getEstimate(ask, { from, to, data }, at)),
        hexToBigInt,
      ),
  }
}

export type RelayerNode = ReturnType<typeof make>
