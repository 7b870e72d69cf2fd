/** The state of the node and of our relayer, for monitoring. */
import { Clock, Context, Duration, Effect, Exit, Layer, Option } from "effect"
import type { Address } from "../../../../schema/Common.ts"
import { Chain } from "./Chain.ts"
import { getBalance, getTransactionCount, tokenState } from "./Questions.ts"
import { both, type ChainUnavailable } from "./Rpc.ts"

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

export class NodeWatch extends Context.Service<
  NodeWatch,
  {
    /** None where no node is configured. */
    readonly now: Effect.Effect<Option.Option<NodeState>, ChainUnavailable>
  }
>()("spirit-altar/payments/x402/chain/NodeWatch") {
  static readonly absent = Layer.succeed(NodeWatch, { now: Effect.succeedNone })
  /** `relayer` is our account, if this server settles by itself. */
  static readonly layer = (relayer: Address | undefined) =>
    Layer.effect(
      NodeWatch,
      Effect.map(Chain, ({ ask, newest }) => {
        const stateOf = Effect.fnUntraced(function* (address: Address) {
          const [balanceWei, [mined, sent]] = yield* ask(
            both(
              getBalance(address, "latest"),
              both(getTransactionCount(address, "latest"), getTransactionCount(address, "pending")),
            ),
          )
          return { balanceWei, waiting: Math.max(0, Number(sent - mined)), mined: Number(mined) }
        })

        const now = Effect.gen(function* () {
          const { timestamp } = yield* newest
          const seconds = (yield* Clock.currentTimeMillis) / 1000
          return Option.some({
            headAgeSeconds: Math.max(0, seconds - Number(timestamp)),
            relayer: relayer === undefined ? Option.none() : Option.some(yield* stateOf(relayer)),
          })
        })
        return NodeWatch.of({ now })
      }),
    )
}

/** Sentences for a caller, without their full stop. */
const obstacles = {
  open: undefined,
  node: "The node of the payment network does not answer, so this server accepts no USDC now",
  paused: "The issuer of USDC has paused all transfers, so this server accepts no USDC now",
  blocked: "The issuer of USDC has blocked the wallet that receives payments here, so this server accepts no USDC now",
} as const

/** How long a good and a bad answer are cached, and the timeout of a query. */
const believedFor = Duration.seconds(3)
const doubtedFor = Duration.seconds(1)
const askedWithin = Duration.seconds(10)

interface Receiving {
  readonly asset: Address
  readonly payTo: Address
}

export class TokenWatch extends Context.Service<TokenWatch>()("spirit-altar/payments/x402/chain/TokenWatch", {
  make: Effect.fnUntraced(function* ({ asset, payTo }: Receiving) {
    const { ask } = yield* Chain

    const obstacleNow = ask(tokenState(asset, payTo)).pipe(
      Effect.map((state) => obstacles[state]),
      Effect.timeout(askedWithin),
      Effect.orElseSucceed(() => obstacles.node),
      Effect.uninterruptible,
    )

    /** Why no transfer to us is possible, at most three seconds old. */
    const [obstacle] = yield* Effect.cachedInvalidateWithTTL(obstacleNow, (exit) =>
      Exit.isSuccess(exit) && exit.value === undefined ? believedFor : doubtedFor,
    )
    return { obstacle, obstacleNow }
  }),
}) {
  static readonly layer = (receiving: Receiving) => Layer.effect(this, this.make(receiving))
}
