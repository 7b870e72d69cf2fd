/** The operator's pause of all sales, for all servers of the database. */
import { Context, Duration, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Moment, rowsOf } from "../../platform/Rows.ts"

/** How long an answer is reused, so that requests pay no round trip for it. */
const believedFor = Duration.seconds(2)

const pausesOf = rowsOf("payment_pause", Schema.Struct({ since: Schema.NullOr(Moment) }))

export interface SellingState {
  /** Since when the operator sells nothing, as ISO 8601. */
  readonly pausedSince: Option.Option<string>
  /** Whether the database accepts writes. */
  readonly isWritable: boolean
}

export class Selling extends Context.Service<Selling>()("spirit-altar/payments/store/Selling", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const known = yield* Ref.make<SellingState>({ pausedSince: Option.none(), isWritable: true })

    /**
     * At most two seconds old. Locking the row is a write: a database that only reads fails here, before a price is
     * offered. A database that fails leaves the last pause, and one that does not answer the last state.
     */
    const state = sql`SELECT since FROM payment_pause WHERE id = 1 FOR KEY SHARE`.pipe(
      pausesOf,
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

    return { state: cached, pause, resume }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
