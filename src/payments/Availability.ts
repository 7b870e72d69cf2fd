/** Tells whether a purchase can be paid now: the operator's pause, the node, the token and the settlement. */
import { Context, Effect, Layer, Option, Ref } from "effect"
import { FacilitatorUnavailable, SellingPaused } from "../../schema/payments/Errors.ts"
import { Selling } from "./store/Selling.ts"
import { type Funds, Settlement } from "./settle/Settlement.ts"
import { TokenWatch } from "./chain/NodeWatch.ts"
import { log } from "../platform/LogMessages.ts"

export interface AvailabilityState {
  /** Since when the operator has paused sales, as ISO 8601. */
  readonly pausedSince: Option.Option<string>
  /** Whether the database accepts writes. */
  readonly isWritable: boolean
  /** Why no payment is possible: a sentence for the caller, without its full stop. */
  readonly obstacle: string | undefined
  readonly settlement: Funds
}

/** The refusal while no payment on chain is possible. `charged` says what was charged. */
export const notSettled = (obstacle: string, charged: string) =>
  new FacilitatorUnavailable({ message: `${obstacle}. Send the same request again later. ${charged}` })

const paused = "The operator has paused sales"
const readOnly = "The database accepts no writes now"

const unobstructed = { obstacle: Effect.undefined, funds: Effect.succeed<Funds>("ok") }

export class Availability extends Context.Service<Availability>()("spirit-altar/payments/Availability", {
  make: Effect.gen(function* () {
    const selling = yield* Selling
    const { obstacle: tokenObstacle } = Option.getOrElse(yield* Effect.serviceOption(TokenWatch), () => unobstructed)
    const settlement = Option.getOrElse(yield* Effect.serviceOption(Settlement), () => unobstructed)
    const onChain = Effect.zipWith(tokenObstacle, settlement.obstacle, (token, settling) => token ?? settling, {
      concurrent: true,
    })
    const reported = yield* Ref.make<string | undefined>(undefined)

    /** A pause is the operator's own act, so it is no error. */
    const report = Effect.fnUntraced(function* (isPaused: boolean, obstacle: string | undefined) {
      const reason = isPaused ? paused : obstacle
      if ((yield* Ref.getAndSet(reported, reason)) === reason) return
      if (isPaused) return yield* log("sales paused")
      yield* obstacle === undefined ? log("payments available") : log("payments unavailable", { reason: obstacle })
    })

    const state = Effect.all([selling.state, onChain, settlement.funds], {
      concurrency: "unbounded",
    }).pipe(
      Effect.map(([{ isWritable, pausedSince }, obstacle, funds]): AvailabilityState => ({
        pausedSince,
        isWritable,
        obstacle: isWritable ? obstacle : readOnly,
        settlement: obstacle === undefined ? funds : "failing",
      })),
      Effect.tap(({ obstacle, pausedSince }) => report(Option.isSome(pausedSince), obstacle)),
    )

    /** Fails while the operator has paused sales. The operator's reason is not published. */
    const unlessPaused = Effect.flatMap(selling.state, ({ pausedSince }) =>
      Option.isNone(pausedSince) ? Effect.void : Effect.fail(new SellingPaused({})),
    )

    /** Fails while a payment could not be recorded, or not be settled on chain. */
    const toOffer = Effect.gen(function* () {
      yield* Effect.tapError(unlessPaused, () => report(true, undefined))
      const { isWritable } = yield* selling.state
      const obstacle = isWritable ? yield* onChain : readOnly
      yield* report(false, obstacle)
      if (obstacle !== undefined) return yield* notSettled(obstacle, "This request charged nothing.")
    })

    return { state, unlessPaused, toOffer }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
