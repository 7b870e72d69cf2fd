/** The state of the node and of our relayer, for monitoring. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { hexToBigInt, hexToNumber } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { Quantity } from "../Hex.ts"
import { Chain } from "./Chain.ts"
import { type ChainUnavailable, getBalance, getTransactionCount, question } from "./Rpc.ts"

export interface RelayerState {
  readonly balanceWei: bigint
  /** Transactions that are sent and in no block. */
  readonly waiting: number
  /** Transactions in a block, which equals the nonce of the oldest one that is in none. */
  readonly mined: number
}

export interface NodeState {
  readonly headAgeSeconds: number
  readonly relayer: Option.Option<RelayerState>
}

const getBlock = question("eth_getBlockByNumber", Schema.Struct({ timestamp: Quantity }))

export class NodeWatch extends Context.Service<
  NodeWatch,
  { readonly now: Effect.Effect<NodeState, ChainUnavailable> }
>()("spirit-altar/payments/chain/NodeWatch") {
  /** `relayer` is our account, if this server settles by itself. */
  static readonly layer = (relayer: Address | undefined) =>
    Layer.effect(
      NodeWatch,
      Effect.map(Chain, ({ ask }) => {
        const relayerState = Effect.fnUntraced(function* (address: Address) {
          const [balanceWei, mined, sent] = yield* Effect.all(
            [
              getBalance(ask, address, "latest"),
              getTransactionCount(ask, address, "latest"),
              getTransactionCount(ask, address, "pending"),
            ],
            { concurrency: "unbounded" },
          )
          const count = hexToNumber(mined)
          return {
            balanceWei: hexToBigInt(balanceWei),
            waiting: Math.max(0, hexToNumber(sent) - count),
            mined: count,
          }
        })

        const now = Effect.gen(function* () {
          const at = yield* getBlock(ask, "latest", false)
          const seconds = (yield* Clock.currentTimeMillis) / 1000
          return {
            headAgeSeconds: Math.max(0, seconds - hexToNumber(at.timestamp)),
            relayer: relayer === undefined ? Option.none() : Option.some(yield* relayerState(relayer)),
          }
        })
        return NodeWatch.of({ now })
      }),
    )
}
