/** Tells whether a purchase can be paid now: the operator's pause, the database, and what each rail needs. */
import { Context, Duration, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type FacilitatorUnavailable, SellingPaused } from "../../schema/payments/Errors.ts"
import { notPayable } from "./Rail.ts"
import { type AnyRail, Rails } from "./Rails.ts"
import type { Funds } from "./x402/settle/Settlement.ts"
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

export class Selling extends Context.Service<
  Selling,
  {
    /** At most two seconds old. A database that fails leaves the last pause. */
    readonly state: Effect.Effect<SellingState>
    /** Succeeds if the database takes writes now. Otherwise the middleware answers. */
    readonly writable: Effect.Effect<unknown>
    /** Pauses all sales, and returns whether they were open before. */
    readonly pause: (reason: string) => Effect.Effect<boolean, SqlError.SqlError>
    /** Opens sales, and returns whether they were paused before. */
    readonly resume: Effect.Effect<boolean, SqlError.SqlError>
  }
>()("spirit-altar/payments/Selling") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const latest = yield* Ref.make<SellingState>({ pausedSince: Option.none(), isWritable: true })

    /** Locking the row is a write: a database that only reads fails here, before a price is offered. */
    const locked = pausesOf(sql`SELECT since FROM payment_pause WHERE id = 1 FOR KEY SHARE`)

    /** At most two seconds old. A database that fails leaves the last pause, and one that does not answer the last state. */
    const state = locked.pipe(
      Effect.map(([row]): SellingState => ({ pausedSince: Option.fromNullishOr(row?.since), isWritable: true })),
      Effect.catchTag("SqlError", () =>
        Effect.map(Ref.get(latest), ({ pausedSince }) => ({ pausedSince, isWritable: false })),
      ),
      Effect.tap((current) => Ref.set(latest, current)),
      // All callers share the query, so a hanging one must not stop all sales.
      Effect.timeoutOrElse({ duration: believedFor, orElse: () => Ref.get(latest) }),
      Effect.uninterruptible,
    )
    const cached = yield* Effect.cachedWithTTL(state, believedFor)

    const pause = Effect.fn("Selling.pause")((reason: string) =>
      Effect.map(
        sql`UPDATE payment_pause SET reason = ${reason}, since = clock_timestamp()
          WHERE id = 1 AND reason IS NULL RETURNING id`,
        (rows) => rows.length > 0,
      ),
    )

    const resume = Effect.map(
      sql`UPDATE payment_pause SET reason = NULL, since = NULL WHERE id = 1 AND reason IS NOT NULL RETURNING id`,
      (rows) => rows.length > 0,
    ).pipe(Effect.withSpan("Selling.resume"))

    const writable = toMiddleware(bounded(locked))

    return { state: cached, writable, pause, resume }
  })
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

const paused = "The operator has paused sales"
const unwritable = "The database does not answer, or accepts no writes"

/** The worst of the rails in use. */
const worst = (funds: ReadonlyArray<Funds>): Funds =>
  (["failing", "unknown"] as const).find((state) => funds.includes(state)) ?? "ok"

export class Availability extends Context.Service<
  Availability,
  {
    /** The state for monitoring, within two seconds. It is the last one while a part does not answer. */
    readonly state: Effect.Effect<AvailabilityState>
    /** Succeeds if one of the rails could make a payment now, and it could be recorded. Fails with a 503. */
    readonly toOffer: (rails: ReadonlyArray<AnyRail>) => Effect.Effect<void, SellingPaused | FacilitatorUnavailable>
    /** Succeeds if a verified payment could be made by its rail now. Fails with a 503. */
    readonly toClaim: (rail: Pick<AnyRail, "obstacle">) => Effect.Effect<void, SellingPaused | FacilitatorUnavailable>
  }
>()("spirit-altar/payments/Availability") {
  static readonly make = Effect.gen(function* () {
    const selling = yield* Selling
    const { inUse } = yield* Rails

    /** The first obstacle of these rails, and whether one of them has none. */
    const obstacles = Effect.fnUntraced(function* (rails: ReadonlyArray<AnyRail>) {
      const all = yield* Effect.forEach(rails, ({ obstacle }) => obstacle.toOffer)
      return { first: all.find((obstacle) => obstacle !== undefined), isPayable: all.includes(undefined) }
    })
    let reported: string | undefined

    /** A pause is the operator's own act, so it is no error. */
    const report = (isPaused: boolean, obstacle: string | undefined) => {
      const reason = isPaused ? paused : obstacle
      if (reported === reason) return Effect.void
      reported = reason
      if (isPaused) return log("sales paused")
      return obstacle === undefined ? log("payments available") : log("payments unavailable", { reason: obstacle })
    }

    const latest = yield* Ref.make<AvailabilityState>(unasked)

    const funds = Effect.map(
      Effect.forEach(inUse, (rail) => rail.funds, { concurrency: "unbounded" }),
      worst,
    )
    const inquiry = Effect.all([selling.state, obstacles(inUse), funds], { concurrency: "unbounded" }).pipe(
      Effect.map(([{ isWritable, pausedSince }, { first }, settlement]): AvailabilityState => ({
        pausedSince,
        isWritable,
        obstacle: isWritable ? first : unwritable,
        settlement: first === undefined ? settlement : "failing",
      })),
      Effect.tap(({ obstacle, pausedSince }) => report(Option.isSome(pausedSince), obstacle)),
      Effect.tap((state) => Ref.set(latest, state)),
      Effect.uninterruptible,
    )

    /** The last state while a part does not answer. */
    const state = Effect.catch(soon(inquiry), () =>
      Effect.map(Ref.get(latest), (last): AvailabilityState => ({
        ...last,
        settlement: last.settlement === "failing" ? "failing" : "unknown",
      })),
    )

    /** Fails while the operator has paused sales. The operator's reason is not published. */
    const unlessPaused = Effect.flatMap(selling.state, ({ pausedSince }) =>
      Option.isNone(pausedSince) ? Effect.void : Effect.fail(new SellingPaused({})),
    )

    const toOffer = Effect.fnUntraced(function* (rails: ReadonlyArray<AnyRail>) {
      yield* Effect.tapError(unlessPaused, () => report(true, undefined))
      if (!(yield* selling.state).isWritable) yield* selling.writable
      const { first, isPayable } = yield* obstacles(rails)
      yield* report(false, first)
      if (first !== undefined && !isPayable) return yield* notPayable(first)
    })

    const toClaim = Effect.fnUntraced(function* ({ obstacle }: Pick<AnyRail, "obstacle">) {
      yield* unlessPaused
      const reason = yield* obstacle.toClaim
      if (reason !== undefined) return yield* notPayable(reason)
    })

    return { state, toOffer, toClaim }
  })
  static readonly layer = Layer.effect(this, this.make)
}
