/** The node as the relayer asks it: what it answered with, what it refused, and what nobody can know. */
import { type Duration, Effect, Schema } from "effect"
import { type Hex, hexToBigInt, numberToHex } from "viem"
import { AddressText, HexText, Quantity, Word } from "../../Hex.ts"
import { LogAnswer } from "../node/Chain.ts"
import { type JsonRpc, passing } from "../node/JsonRpc.ts"
import {
  call,
  type ChainUnavailable,
  getBalance,
  getCode,
  getTransactionCount,
  question,
  readAll,
} from "../node/Rpc.ts"
import { reasonOf } from "../verification/Eip3009.ts"
import type { Fee } from "./Fees.ts"

/** A call that did not succeed; `answered` when the node itself refused it, with this JSON-RPC code. */
export class RpcFailure extends Schema.TaggedError<RpcFailure>()("RpcFailure", {
  text: Schema.String,
  answered: Schema.Boolean,
  code: Schema.optionalKey(Schema.Finite),
}) {}

/**
 * A call that is tried before it is sent, with no more gas than this. With its fee it sees the prices that it will see in a
 * block: without one they are zero, by which a contract could tell it from the real thing.
 */
export interface Rehearsal {
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
  readonly fee?: Fee
}

export type At = "pending" | "latest"

/** What a wallet's contract may make us pay for is bounded, too: a signature check that takes more is not paid for. */
export const gasTooHigh = "gas_too_high"

/** It was let in without code, with as many payments at once as such a wallet may have: none is sent at our risk. */
export const gotCode = "wallet_got_code"

/** Another process used this relayer's next nonce first: nothing of ours was taken, so the broadcast is made anew. */
export const isNonceRace = (failure: RpcFailure) =>
  failure.answered &&
  /nonce too low|replacement transaction underpriced|nonce has already been used/iu.test(failure.text)

const isRevert = ({ answered, text }: RpcFailure) => answered && /revert/iu.test(text)

/** Why a transfer cannot be brought to the chain by us, if that is what the node says. */
export const refusalOf = (failure: RpcFailure): string | undefined => {
  const { answered, text } = failure
  if (text === gotCode) return gotCode
  if (text === gasTooHigh || (answered && /gas required exceeds|out of gas/iu.test(text))) return gasTooHigh
  return isRevert(failure) ? reasonOf(text) : undefined
}

/** Says nothing of what was asked: the same question may be answered a moment later. */
export const isPassing = (failure: RpcFailure) =>
  !failure.answered || (failure.code !== undefined && passing.has(failure.code) && refusalOf(failure) === undefined)

/** The node has this very transaction already. */
const isKnownAlready = ({ answered, text }: RpcFailure) =>
  answered && /already known|known transaction|already imported/iu.test(text)

/** Said of a transaction before it can have been taken: what it asks for, what it costs or how long it is. */
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

/** Questions to the node, each of which may wait `timeout`. */
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
   * Sent once: to a repetition the node says "nonce too low", which looks like a race with somebody else. What it refuses
   * it may have taken all the same: then it knows the transaction by its hash.
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

  /** Nodes that keep no pending state say so; then the newest block has to do. */
  const orOnLatest = <A>(block: At, at: (block: At) => Effect.Effect<A, ChainUnavailable>) =>
    inTime(at(block)).pipe(
      Effect.catchIf(
        (failure) => block === "pending" && failure.answered && !isRevert(failure),
        () => inTime(at("latest")),
      ),
    )

  /** Reverts as the broadcast would, were it sent now: nothing is spent on a payment that has just lost its funds. */
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
    /** The nonce that is free behind all that the node knows of. */
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
