/** Tells whether a purchase can be paid now: the operator's pause, the node, the token and the settlement. */
import { Context, Duration, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { FacilitatorUnavailable, SellingPaused } from "../../schema/payments/Errors.ts"
import { type Funds, Settlement } from "./x402/settle/Settlement.ts"
import { TokenWatch } from "./x402/chain/NodeWatch.ts"
import { log } from "../platform/LogMessages.ts"
import { Moment, rowsOf } from "../platform/Rows.ts"
import { bounded, toMiddleware } from "../platform/Sql.ts"
import { soon } from "../platform/Time.ts"

/** How long an answer is reused, so that requests pay no round trip for it. */
const believedFor = Duration.seconds(2)

const pausesOf = rowsOf("payment_pause", Schema.Struct({ since: Schema.NullOr(Moment) }))

export interface SellingState {
  /** Since when the operator sells nothing, as ISO 8601. */
  readonly pausedSince: Option.Option<string>
  /** Whether the database accepts writes. */
  readonly isWritable: boolean
}

export class Selling extends Context.Service<Selling>()("spirit-altar/payments/Selling", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const known = yield* Ref.make<SellingState>({ pausedSince: Option.none(), isWritable: true })

    /** Locking the row is a write: a database that only reads fails here, before a price is offered. */
    const locked = pausesOf(sql`SELECT since FROM payment_pause WHERE id = 1 FOR KEY SHARE`)

    /** At most two seconds old. A database that fails leaves the last pause, and one that does not answer the last state. */
    const state = locked.pipe(
      Effect.map(([row]): SellingState => ({ pausedSince: Option.fromNullishOr(row?.since), isWritable: true })),
      Effect.catchTag("SqlError", () =>
        Effect.map(Ref.get(known), ({ pausedSince }) => ({ pausedSince, isWritable: false })),
      ),
      Effect.tap((found) => Ref.set(known, found)),
      // All callers share the query, so a hanging one must not stop all sales.
      Effect.timeoutOrElse({ duration: believedFor, orElse: () => Ref.get(known) }),
      Effect.uninterruptible,
    )
    const cached = yield* Effect.cachedWithTTL(state, believedFor)

    /** Returns whether sales were open before. */
    const pause = Effect.fn("Selling.pause")((reason: string) =>
      Effect.map(
        sql`UPDATE payment_pause SET reason = ${reason}, since = clock_timestamp()
          WHERE id = 1 AND reason IS NULL RETURNING id`,
        (rows) => rows.length > 0,
      ),
    )

    /** Returns whether sales were paused before. */
    const resume = Effect.map(
      sql`UPDATE payment_pause SET reason = NULL, since = NULL WHERE id = 1 AND reason IS NOT NULL RETURNING id`,
      (rows) => rows.length > 0,
    ).pipe(Effect.withSpan("Selling.resume"))

    /** Leaves a database that is away, or takes no writes, to the middleware and its words. */
    const writable = toMiddleware(bounded(locked))

    return { state: cached, writable, pause, resume }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}

export interface AvailabilityState extends SellingState {
  /** Why no payment is possible: a sentence for the caller, without its full stop. */
  readonly obstacle: string | undefined
  readonly settlement: Funds
}

export const unasked: AvailabilityState = {
  pausedSince: Option.none(),
  isWritable: true,
  obstacle: undefined,
  settlement: "unknown",
}

/** The refusal while no payment on chain is possible. `charged` says what was charged. */
export const notSettled = (obstacle: string, charged: string) =>
  new FacilitatorUnavailable({ message: `${obstacle}. Send the same request again later. ${charged}` })

const paused = "The operator has paused sales"
const unwritable = "The database does not answer, or accepts no writes"

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

    const known = yield* Ref.make<AvailabilityState>(unasked)

    const inquiry = Effect.all([selling.state, onChain, settlement.funds], {
      concurrency: "unbounded",
    }).pipe(
      Effect.map(([{ isWritable, pausedSince }, obstacle, funds]): AvailabilityState => ({
        pausedSince,
        isWritable,
        obstacle: isWritable ? obstacle : unwritable,
        settlement: obstacle === undefined ? funds : "failing",
      })),
      Effect.tap(({ obstacle, pausedSince }) => report(Option.isSome(pausedSince), obstacle)),
      Effect.tap((found) => Ref.set(known, found)),
      Effect.uninterruptible,
    )

    /** The last state while a part does not answer. */
    const state = Effect.catch(soon(inquiry), () =>
      Effect.map(Ref.get(known), (last): AvailabilityState => ({
        ...last,
        settlement: last.settlement === "failing" ? "failing" : "unknown",
      })),
    )

    /** Fails while the operator has paused sales. The operator's reason is not published. */
    const unlessPaused = Effect.flatMap(selling.state, ({ pausedSince }) =>
      Option.isNone(pausedSince) ? Effect.void : Effect.fail(new SellingPaused({})),
    )

    /** Fails while a payment could not be recorded, or not be settled on chain. */
    const toOffer = Effect.gen(function* () {
      yield* Effect.tapError(unlessPaused, () => report(true, undefined))
      if (!(yield* selling.state).isWritable) yield* selling.writable
      const obstacle = yield* onChain
      yield* report(false, obstacle)
      if (obstacle !== undefined) return yield* notSettled(obstacle, "This request charged nothing.")
    })

    return { state, unlessPaused, toOffer }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
