/** What the node says of itself and of our relayer, for whoever watches. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { hexToBigInt, hexToNumber } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { Chain } from "./Chain.ts"
import type { ChainUnavailable } from "./ChainUnavailable.ts"
import { ask } from "./Rpc.ts"

export interface RelayerState {
  readonly balanceWei: bigint
  /** Transactions that are sent and in no block. */
  readonly waiting: number
}

export interface NodeState {
  /** Seconds since the newest block. */
  readonly headAgeSeconds: number
  readonly relayer: Option.Option<RelayerState>
}

export class NodeWatch extends Context.Service<
  NodeWatch,
  /** Nothing where payments are not configured. */
  { readonly now: Effect.Effect<Option.Option<NodeState>, ChainUnavailable> }
>()("spirit-altar/payments/x402/NodeWatch") {
  static readonly none = Layer.succeed(NodeWatch, { now: Effect.succeedNone })

  /** `relayer` is our account, where we settle by ourselves. */
  static readonly layer = (relayer: Address | undefined) =>
    Layer.effect(
      NodeWatch,
      Effect.map(Chain, ({ client }) => {
        const relayerState = Effect.fnUntraced(function* (address: Address) {
          const [balanceWei, mined, sent] = yield* Effect.all(
            [
              ask("eth_getBalance", () =>
                client.request({ method: "eth_getBalance", params: [address, "latest"] }).then(hexToBigInt),
              ),
              ask("eth_getTransactionCount", () =>
                client.request({ method: "eth_getTransactionCount", params: [address, "latest"] }).then(hexToNumber),
              ),
              ask("eth_getTransactionCount", () =>
                client.request({ method: "eth_getTransactionCount", params: [address, "pending"] }).then(hexToNumber),
              ),
            ],
            { concurrency: "unbounded" },
          )
          return { balanceWei, waiting: Math.max(0, sent - mined) }
        })

        const now = Effect.gen(function* () {
          const at = yield* ask("eth_getBlockByNumber", () =>
            client
              .request({ method: "eth_getBlockByNumber", params: ["latest", false] })
              .then((block) => hexToNumber(block?.timestamp ?? "0x0")),
          )
          const seconds = (yield* Clock.currentTimeMillis) / 1000
          return Option.some({
            headAgeSeconds: Math.max(0, seconds - at),
            relayer: relayer === undefined ? Option.none() : Option.some(yield* relayerState(relayer)),
          })
        })
        return NodeWatch.of({ now })
      }),
    )
}
