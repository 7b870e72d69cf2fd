/** The node as the relayer uses it: calls that distinguish a refusal from a missing answer. */
import { type Duration, Effect, Schema } from "effect"
import { type Hex, hexToBigInt, numberToHex } from "viem"
import { AddressText, HexText, Quantity, Word } from "../Hex.ts"
import type { JsonRpc } from "../chain/JsonRpc.ts"
import { call, type ChainUnavailable, getBalance, getCode, getTransactionCount, question } from "../chain/Rpc.ts"
import { reasonOf } from "../chain/Eip3009.ts"
import type { Fee } from "./Fees.ts"

/** A call that failed. `answered` means that the node itself refused it. */
export class RpcFailure extends Schema.TaggedError<RpcFailure>()("RpcFailure", {
  text: Schema.String,
  answered: Schema.Boolean,
}) {
  override get message() {
    return this.text
  }
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

const isRevert = ({ answered, text }: RpcFailure) => answered && /revert/iu.test(text)

/** The reason why we cannot send a transfer, if the node gives one. */
export const refusalOf = (failure: RpcFailure): string | undefined => {
  const { answered, text } = failure
  if (text === gasTooHigh || (answered && /gas required exceeds|out of gas/iu.test(text))) return gasTooHigh
  return isRevert(failure) ? reasonOf(text) : undefined
}

const isKnownAlready = ({ answered, text }: RpcFailure) =>
  answered && /already known|known transaction|already imported/iu.test(text)

const Transaction = Schema.NullOr(
  Schema.Struct({ hash: Word, from: AddressText, blockNumber: Schema.optionalKey(Schema.NullOr(Quantity)) }),
)
const Mined = Schema.NullOr(Schema.Struct({ status: HexText, blockNumber: Quantity }))
const Block = Schema.Struct({ timestamp: Quantity, baseFeePerGas: Schema.optionalKey(Quantity) })

const getTransaction = question("eth_getTransactionByHash", Transaction)
const getReceipt = question("eth_getTransactionReceipt", Mined)
const getBlock = question("eth_getBlockByNumber", Block)
const getEstimate = question("eth_estimateGas", Quantity)

const priced = ({ maxFeePerGas, maxPriorityFeePerGas }: Fee) => ({
  maxFeePerGas: numberToHex(maxFeePerGas),
  maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
})

/** Queries to the node, each with this timeout. */
export const make = ({ ask, once }: Pick<JsonRpc, "ask" | "once">, timeout: Duration.Duration) => {
  const inTime = <A>(asked: Effect.Effect<A, ChainUnavailable>): Effect.Effect<A, RpcFailure> =>
    asked.pipe(
      Effect.mapError(
        ({ code, detail = "", message }) =>
          new RpcFailure(code === undefined ? { text: message, answered: false } : { text: detail, answered: true }),
      ),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new RpcFailure({ text: "the node did not answer in time", answered: false })),
      }),
    )

  /** Sends once. A refusal proves nothing: the node may have accepted the transaction all the same. */
  const send = (signed: Hex) =>
    inTime(once("eth_sendRawTransaction", [signed])).pipe(
      Effect.asVoid,
      Effect.catchIf(isKnownAlready, () => Effect.void),
    )

  /** Falls back to the newest block for nodes without a pending state. */
  const orOnLatest = <A>(block: At, at: (block: At) => Effect.Effect<A, ChainUnavailable>) =>
    inTime(at(block)).pipe(
      Effect.catchIf(
        (failure) => block === "pending" && failure.answered && !isRevert(failure),
        () => inTime(at("latest")),
      ),
    )

  const count = (address: Hex, block: At) => Effect.map(inTime(getTransactionCount(ask, address, block)), Number)

  return {
    send,
    transaction: (hash: Hex) => inTime(getTransaction(ask, hash)),
    receipt: (hash: Hex) => inTime(getReceipt(ask, hash)),
    newest: inTime(getBlock(ask, "latest", false)),
    timeOf: (block: Hex) => Effect.map(inTime(getBlock(ask, block, false)), ({ timestamp }) => hexToBigInt(timestamp)),
    /** The number of transactions in blocks, or with those that wait (`pending`). */
    count,
    hasCode: (address: Hex) => Effect.map(inTime(getCode(ask, address, "latest")), (code) => code !== "0x"),
    balance: (address: Hex) => Effect.map(inTime(getBalance(ask, address, "latest")), hexToBigInt),
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
