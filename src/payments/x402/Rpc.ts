/** One question to the node: whatever goes wrong, it was not answered. */
import { Effect } from "effect"
import type { Hex } from "viem"
import { encodeFunctionData, hexToBigInt, parseAbi, type PublicClient } from "viem"
import type { Address } from "../../../schema/Common.ts"
import * as Trace from "../../platform/Trace.ts"
import { type ChainUnavailable, unavailable } from "./ChainUnavailable.ts"
import { inTrace } from "./RpcMetrics.ts"

/** What is read from an answer is read inside `run`: an answer that makes no sense is no answer. */
export const ask = <A>(method: string, run: () => Promise<A>): Effect.Effect<A, ChainUnavailable> =>
  Trace.current.pipe(
    Effect.flatMap((parent) =>
      Effect.tryPromise({ try: () => inTrace(parent, run), catch: (cause) => unavailable(method, cause) }),
    ),
    Effect.withSpan(method, { kind: "client" }),
  )

const balanceAbi = parseAbi(["function balanceOf(address account) view returns (uint256)"])

/** The call that reads how much of a token somebody holds. */
export const balanceData = (owner: Address) =>
  encodeFunctionData({ abi: balanceAbi, functionName: "balanceOf", args: [owner] })

/** Atomic units of `asset` that `owner` holds at a block. */
export const balanceOf = (client: PublicClient, asset: Address, owner: Address, block: Hex | "latest") =>
  ask("eth_call", () =>
    client
      .request({
        method: "eth_call",
        params: [{ to: asset, data: balanceData(owner) }, block],
      })
      .then(hexToBigInt),
  )
