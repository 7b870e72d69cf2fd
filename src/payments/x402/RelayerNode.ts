/** The node as the relayer asks it: what it answered with, what it refused, and what nobody can know. */
import { type Duration, Effect, Schema } from "effect"
import { BaseError, type Hex, hexToBigInt, numberToHex, type PublicClient } from "viem"
import * as Trace from "../../platform/Trace.ts"
import { reasonOf } from "./Eip3009.ts"
import { inTrace } from "./RpcMetrics.ts"

/** A call that did not succeed; `answered` when the node itself refused it. */
export class RpcFailure extends Schema.TaggedError<RpcFailure>()("RpcFailure", {
  text: Schema.String,
  answered: Schema.Boolean,
}) {}

/** A call that is tried before it is sent; with no more gas than this, if it says so. */
export interface Rehearsal {
  readonly to: Hex
  readonly data: Hex
  readonly gas?: bigint
}

/** The block that a call is tried on. */
export type At = "pending" | "latest"

/** What a wallet's contract may make us pay for is bounded, too: a signature check that takes more is not paid for. */
export const gasTooHigh = "gas_too_high"

/** Another process used this relayer's next nonce first: nothing of ours was taken, so the broadcast is made anew. */
export const isNonceRace = (failure: RpcFailure) =>
  failure.answered &&
  /nonce too low|replacement transaction underpriced|nonce has already been used/iu.test(failure.text)

const isRevert = ({ answered, text }: RpcFailure) => answered && /revert/iu.test(text)

/** Why a transfer cannot be brought to the chain by us, if that is what the node says. */
export const refusalOf = (failure: RpcFailure): string | undefined => {
  const { answered, text } = failure
  if (text === gasTooHigh || (answered && /gas required exceeds|out of gas/iu.test(text))) return gasTooHigh
  return isRevert(failure) ? reasonOf(text) : undefined
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
            answered:
              cause instanceof BaseError && cause.walk((inner) => inner instanceof Object && "code" in inner) !== null,
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

  /** Sent once: to a repetition the node says "nonce too low", which looks like a race with somebody else. */
  const send = (signed: Hex) =>
    call((node) => node.request({ method: "eth_sendRawTransaction", params: [signed] }, { retryCount: 0 }))

  /** Nodes that keep no pending state say so; then the newest block has to do. */
  const orOnLatest = <A>(block: At, at: (node: PublicClient, block: At) => Promise<A>) =>
    call((node) => at(node, block)).pipe(
      Effect.catchIf(
        (failure) => block === "pending" && failure.answered && !isRevert(failure),
        () => call((node) => at(node, "latest")),
      ),
    )

  /** Reverts as the broadcast would, were it sent now: nothing is spent on a payment that has just lost its funds. */
  const rehearse = (from: Hex, { data, gas, to }: Rehearsal, block: At) =>
    orOnLatest(block, (node, at) =>
      node.request({
        method: "eth_call",
        params: [{ from, to, data, ...(gas === undefined ? {} : { gas: numberToHex(gas) }) }, at],
      }),
    )

  const hasCode = (address: Hex) =>
    call((node) => node.request({ method: "eth_getCode", params: [address, "latest"] })).pipe(
      Effect.map((code) => code !== "0x"),
    )

  const estimateGas = (from: Hex, to: Hex, data: Hex, block: At) =>
    orOnLatest(block, (node, at) =>
      node.request({ method: "eth_estimateGas", params: [{ from, to, data }, at] }).then(hexToBigInt),
    )

  return { call, transaction, send, rehearse, hasCode, estimateGas }
}

export type RelayerNode = ReturnType<typeof make>
