/** The node as the relayer uses it: calls that distinguish a refusal from a missing answer. */
import { type Duration, Effect, Schema } from "effect"
import { type Hex, hexToBigInt, numberToHex } from "viem"
import { AddressText, HexText, Quantity, Word } from "../../Hex.ts"
import { LogAnswer } from "../../chain/Chain.ts"
import { type JsonRpc, transientCodes } from "../../chain/JsonRpc.ts"
import {
  call,
  type ChainUnavailable,
  getBalance,
  getCode,
  getTransactionCount,
  question,
  readAll,
} from "../../chain/Rpc.ts"
import { reasonOf } from "../../chain/Eip3009.ts"
import type { Fee } from "./Fees.ts"

/** A call that failed. `answered` means that the node itself refused it, with this JSON-RPC code. */
export class RpcFailure extends Schema.TaggedError<RpcFailure>()("RpcFailure", {
  text: Schema.String,
  answered: Schema.Boolean,
  code: Schema.optionalKey(Schema.Finite),
}) {}

/**
 * A call rehearsed before it is sent, with at most this gas. Its fee makes the rehearsal see block prices. Without one
 * they are zero, which tells a contract that it is rehearsed.
 */
export interface Rehearsal {
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
  readonly fee?: Fee
}

export type At = "pending" | "latest"

/** The refusal of a transfer whose contract takes more gas for its signature check than we pay for. */
export const gasTooHigh = "gas_too_high"

/** The refusal of a wallet that was accepted without code, with the higher limit of such wallets, and now has code. */
export const gotCode = "wallet_got_code"

/** Another process used this relayer's next nonce first. The broadcast was not accepted and is repeated. */
export const isNonceRace = (failure: RpcFailure) =>
  failure.answered &&
  /nonce too low|replacement transaction underpriced|nonce has already been used/iu.test(failure.text)

const isRevert = ({ answered, text }: RpcFailure) => answered && /revert/iu.test(text)

/** The reason why we cannot send a transfer, if the node gives one. */
export const refusalOf = (failure: RpcFailure): string | undefined => {
  const { answered, text } = failure
  if (text === gotCode) return gotCode
  if (text === gasTooHigh || (answered && /gas required exceeds|out of gas/iu.test(text))) return gasTooHigh
  return isRevert(failure) ? reasonOf(text) : undefined
}

/** Whether the failure says nothing about the call, so that a retry may succeed. */
export const isPassing = (failure: RpcFailure) =>
  !failure.answered ||
  (failure.code !== undefined && transientCodes.has(failure.code) && refusalOf(failure) === undefined)

const isKnownAlready = ({ answered, text }: RpcFailure) =>
  answered && /already known|known transaction|already imported/iu.test(text)

/** Refusals that precede acceptance of a transaction: its gas limit, its cost or its size. */
export const isNeverTaken = ({ answered, text }: RpcFailure) =>
  /refused the request 413/u.test(text) ||
  (answered && /gas limit|intrinsic gas|insufficient funds|oversized data|too large/iu.test(text))

const Transaction = Schema.NullOr(
  Schema.Struct({ hash: Word, from: AddressText, blockNumber: Schema.optionalKey(Schema.NullOr(Quantity)) }),
)
const Mined = Schema.NullOr(
  Schema.Struct({ blockHash: Word, status: HexText, gasUsed: Quantity, logs: Schema.Array(LogAnswer) }),
)
const Block = Schema.Struct({
  timestamp: Quantity,
  baseFeePerGas: Schema.optionalKey(Quantity),
  gasLimit: Schema.optionalKey(Quantity),
})

const getTransaction = question("eth_getTransactionByHash", Transaction)
const getReceipt = question("eth_getTransactionReceipt", Mined)
const getNewest = question("eth_getBlockByNumber", Block)
const getBlock = question("eth_getBlockByHash", Schema.NullOr(Block))
const getEstimate = question("eth_estimateGas", Quantity)

/** Queries to the node, each with this timeout. */
export const make = ({ ask, once }: Pick<JsonRpc, "ask" | "once">, timeout: Duration.Duration) => {
  const inTime = <A>(asked: Effect.Effect<A, ChainUnavailable>): Effect.Effect<A, RpcFailure> =>
    asked.pipe(
      Effect.mapError(
        ({ code, detail = "", message }) =>
          new RpcFailure(
            code === undefined ? { text: message, answered: false } : { text: detail, answered: true, code },
          ),
      ),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new RpcFailure({ text: "the node did not answer in time", answered: false })),
      }),
    )

  const transaction = (hash: Hex) => inTime(getTransaction(ask, hash))

  /**
   * Sent once: a repetition gets "nonce too low", which looks like a race with another process. A refused transaction
   * may still have been accepted, in which case the node knows its hash.
   */
  const send = (signed: Hex, hash: Hex) =>
    inTime(once("eth_sendRawTransaction", [signed])).pipe(
      Effect.asVoid,
      Effect.catch((failure) => {
        if (isKnownAlready(failure)) return Effect.void
        if (!failure.answered || isNonceRace(failure) || isNeverTaken(failure)) return Effect.fail(failure)
        return transaction(hash).pipe(
          Effect.mapError(() => failure),
          Effect.filterOrFail(
            (known) => known !== null,
            () => failure,
          ),
          Effect.asVoid,
        )
      }),
    )

  /** Falls back to the newest block for nodes without a pending state. */
  const orOnLatest = <A>(block: At, at: (block: At) => Effect.Effect<A, ChainUnavailable>) =>
    inTime(at(block)).pipe(
      Effect.catchIf(
        (failure) => block === "pending" && failure.answered && !isRevert(failure),
        () => inTime(at("latest")),
      ),
    )

  /** Reverts if the broadcast would revert now, so no gas is spent on a wallet that has just lost its funds. */
  const rehearse = (from: Hex, { data, fee, gas, to }: Rehearsal, block: At) => {
    const prices =
      fee === undefined
        ? {}
        : {
            maxFeePerGas: numberToHex(fee.maxFeePerGas),
            maxPriorityFeePerGas: numberToHex(fee.maxPriorityFeePerGas),
          }
    return orOnLatest(block, (at) => call(ask, { from, to, data, gas: numberToHex(gas), ...prices }, at))
  }

  return {
    transaction,
    send,
    rehearse,
    readAll: (asset: Hex, reads: ReadonlyArray<Hex>) => inTime(readAll(ask, asset, reads)),
    receipt: (hash: Hex) => inTime(getReceipt(ask, hash)),
    block: (hash: Hex) => inTime(getBlock(ask, hash, false)),
    newest: inTime(getNewest(ask, "latest", false)),
    /** The next nonce after all transactions the node knows. */
    nonce: (address: Hex) => Effect.map(inTime(getTransactionCount(ask, address, "pending")), Number),
    hasCode: (address: Hex) => Effect.map(inTime(getCode(ask, address, "latest")), (code) => code !== "0x"),
    balance: (address: Hex, block: At) =>
      Effect.map(
        orOnLatest(block, (at) => getBalance(ask, address, at)),
        hexToBigInt,
      ),
    estimateGas: (from: Hex, to: Hex, data: Hex, block: At) =>
      Effect.map(
        orOnLatest(block, (at) => getEstimate(ask, { from, to, data }, at)),
        hexToBigInt,
      ),
  }
}

export type RelayerNode = ReturnType<typeof make>
