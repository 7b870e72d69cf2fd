/** The node as the relayer asks it: what it answered with, what it refused, and what nobody can know. */
import { type Duration, Effect, Schema } from "effect"
import { BaseError, type Hex, hexToBigInt, numberToHex, type PublicClient } from "viem"
import * as Trace from "../../../platform/Trace.ts"
import { reasonOf } from "../verification/Eip3009.ts"
import type { Fee } from "./Fees.ts"
import { passing } from "../node/JsonRpc.ts"
import { inTrace } from "../node/RpcMetrics.ts"

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

/** The block that a call is tried on. */
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

const hasCodeIn = (inner: unknown): inner is { readonly code: unknown } => inner instanceof Object && "code" in inner

/** The node's own code, if it is the node that refused. */
const codeOf = (cause: unknown) => {
  const inner = cause instanceof BaseError ? cause.walk(hasCodeIn) : null
  return !hasCodeIn(inner)
    ? { answered: false }
    : { answered: true, ...(typeof inner.code === "number" ? { code: inner.code } : {}) }
}

/** Calls to the node, each of which may wait `timeout`. */
export const make = (client: PublicClient, timeout: Duration.Duration) => {
  const call = <A>(run: (client: PublicClient) => Promise<A>) =>
    Effect.flatMap(Trace.current, (parent) =>
      Effect.tryPromise({
        try: () => inTrace(parent, () => run(client)),
        catch: (cause) =>
          new RpcFailure({
            text: cause instanceof BaseError ? `${cause.shortMessage} ${cause.details}` : String(cause),
            ...codeOf(cause),
          }),
      }),
    ).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new RpcFailure({ text: "the node did not answer in time", answered: false })),
      }),
    )

  const transaction = (hash: Hex) =>
    call((node) => node.request({ method: "eth_getTransactionByHash", params: [hash] }))

  /**
   * Sent once: to a repetition the node says "nonce too low", which looks like a race with somebody else. What it refuses
   * it may have taken all the same: then it knows the transaction by its hash.
   */
  const send = (signed: Hex, hash: Hex) =>
    call((node) => node.request({ method: "eth_sendRawTransaction", params: [signed] }, { retryCount: 0 })).pipe(
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
  const orOnLatest = <A>(block: At, at: (node: PublicClient, block: At) => Promise<A>) =>
    call((node) => at(node, block)).pipe(
      Effect.catchIf(
        (failure) => block === "pending" && failure.answered && !isRevert(failure),
        () => call((node) => at(node, "latest")),
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
    return orOnLatest(block, (node, at) =>
      node.request({ method: "eth_call", params: [{ from, to, data, gas: numberToHex(gas), ...prices }, at] }),
    )
  }

  const hasCode = (address: Hex) =>
    call((node) => node.request({ method: "eth_getCode", params: [address, "latest"] })).pipe(
      Effect.map((code) => code !== "0x"),
    )

  /** Wei that the account has for gas. */
  const balance = (address: Hex, block: At) =>
    orOnLatest(block, (node, at) => node.request({ method: "eth_getBalance", params: [address, at] }).then(hexToBigInt))

  const estimateGas = (from: Hex, to: Hex, data: Hex, block: At) =>
    orOnLatest(block, (node, at) =>
      node.request({ method: "eth_estimateGas", params: [{ from, to, data }, at] }).then(hexToBigInt),
    )

  return { call, transaction, send, rehearse, hasCode, balance, estimateGas }
}

export type RelayerNode = ReturnType<typeof make>
